; matmul_q4_0 - y = W x, weights in Q4_0: f16 scale, 32 times 4 bits, less 8.  x86-64, AVX2 + FMA + F16C.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q4_0.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm; ymm10 bytes of 8, ymm5 their products with x
%include "blocks.inc"

%macro ADD_ROW 2                        ; sum, row
    NIBBLES [%2 + 2]
    vpmaddubsw ymm7, ymm7, ymm4
    vpsubw  ymm7, ymm7, ymm5
    ADD_DOT %1, [%2]
%endmacro

extern matmul_blocks
global matmul_q4_0, matmul_q4_0.tile
section .text align=1
matmul_q4_0:
    call    matmul_blocks
.tile:
    vpsrlw  ymm10, ymm11, 1
.step:
    prefetcht2 [rdx + rax*2]
    vmovdqu ymm4, [rbx + 8]
    vpmaddubsw ymm5, ymm10, ymm4
    ADD_ROW ymm0, rax
    ADD_ROW ymm1, rax + r8
    add     rbx, 40
    add     rax, 18
    dec     ecx
    jnz     .step
    ret
