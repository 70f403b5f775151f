; matmul_q8_0 - y = W x, weights in Q8_0: f16 scale, 32 i8.  x86-64, AVX2 + FMA + F16C.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q8_0.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm
%include "blocks.inc"

%macro ADD_ROW 2                        ; sum, row
    vmovdqu ymm7, [%2 + 2]
    vpabsb  ymm6, ymm7                  ; the unsigned side, up to 128; x takes the signs
    vpsignb ymm7, ymm4, ymm7
    vpmaddubsw ymm7, ymm6, ymm7
    ADD_DOT %1, [%2]
%endmacro

extern matmul_blocks
global matmul_q8_0, matmul_q8_0.tile
section .text align=1
matmul_q8_0:
    call    matmul_blocks
.tile:
    prefetcht2 [rdx + rax*2]
    prefetcht2 [rdx + rax*2 + 34]       ; two blocks are more than a line
    vmovdqu ymm4, [rbx + 8]
    ADD_ROW ymm0, rax
    ADD_ROW ymm1, rax + r8
    add     rbx, 40
    add     rax, 34
    dec     ecx
    jnz     .tile
    ret
