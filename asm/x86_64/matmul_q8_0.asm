; matmul_q8_0 - y = W x, weights in Q8_0: f16 scale, 32 i8.  x86-64, AVX2 + FMA + F16C.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q8_0.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm
%include "blocks.inc"

extern matmul_blocks, matmul_blocks.others
global matmul_q8_0, matmul_q8_0.tile
section .text align=1
matmul_q8_0:
    call    matmul_blocks
.tile:
    prefetcht2 [rax + rdx]
    vmovdqu ymm4, [rax + 2]
    vpabsb  ymm5, ymm4                  ; up to 128: the unsigned side
    vmovdqu ymm7, [rbx + 8]
    vpsignb ymm7, ymm7, ymm4            ; takes the signs
    vpmaddubsw ymm7, ymm5, ymm7
    vcvtph2ps xmm15, [rax]
    vpmaddwd ymm7, ymm2, ymm7
    ADD_DOT xmm15
    NEXT    34, .tile
.others:
    call    matmul_blocks.others
    jmp     .next
