; matmul_q5_0 - y = W x, weights in Q5_0: f16 scale, 32 fifth bits, 32 times 4 bits, less 16.  x86-64, AVX2 + FMA + F16C.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q5_0.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm   ymm10 the bits 0 to 7 in 8 bytes
%include "blocks.inc"

extern matmul_blocks
global matmul_q5_0, matmul_q5_0.tile
section .text align=1
matmul_q5_0:
    call    matmul_blocks
.tile:
    vpbroadcastq ymm10, [rel .bits]
.block:
    prefetcht2 [rax + rdx]
    vpmovzxbq ymm5, [rax + 2]
    vpmuludq ymm5, ymm3, ymm5          ; each of the four bytes 4 times,
    vpshufd ymm5, ymm5, 0xa0            ; 8 times
    vpand   ymm5, ymm10, ymm5
    vpcmpeqb ymm5, ymm10, ymm5
    vpand   ymm5, ymm11, ymm5           ; 16 where the bit is set
    NIBBLES [rax + 6]
    vpor    ymm7, ymm7, ymm5
    vpmaddubsw ymm7, ymm7, [rbx + 8]
    OFFSET  ymm11
    vcvtph2ps xmm6, [rax]
    vpmaddwd ymm7, ymm2, ymm7
    ADD_DOT xmm6
    NEXT    22, .block
.bits:
    db      1, 2, 4, 8, 16, 32, 64, 128
