; matmul_q6_k - y = W x, weights in Q6_K: 256 times 4 bits, 256 times 2 bits, 16 i8 scales, their f16 scale.
; x86-64, AVX2 + FMA + F16C.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q6_k.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm   rsi upper bits   rdi scales   xmm2 their scale
;          ymm3 upper bits   ymm4, ymm5 lower bits of this part and of the next
;          ymm9 bytes of 32   ymm10 bytes of 48
%include "blocks.inc"

extern matmul_blocks
global matmul_q6_k, matmul_q6_k.tile
section .text align=1
matmul_q6_k:
    call    matmul_blocks
.tile:
    push    rsi
    push    rdi
    vpaddb  ymm9, ymm11, ymm11
    vpaddb  ymm10, ymm9, ymm11
.block:
    lea     rsi, [rax + 128]
    lea     rdi, [rsi + 64]
    vpbroadcastw xmm2, [rdi + 16]
    vcvtph2ps xmm2, xmm2
.half:
    vmovdqu ymm4, [rax]
    vmovdqu ymm5, [rax + 32]
    vmovdqu ymm3, [rsi]
    add     rax, 64
    add     rsi, 32
.part:
    prefetcht2 [rax + rdx]
    vpand   ymm7, ymm14, ymm4
    vpsrlw  ymm6, ymm4, 4
    vmovdqa ymm4, ymm5
    vmovdqa ymm5, ymm6
    vpsllw  ymm6, ymm3, 4
    vpand   ymm6, ymm10, ymm6
    vpor    ymm7, ymm7, ymm6
    vpsrlw  ymm3, ymm3, 2
    vpmaddubsw ymm7, ymm7, [rbx + 8]
    OFFSET  ymm9
    vpmaddwd ymm7, ymm15, ymm7
    vpmovsxbq xmm6, [rdi]
    add     rdi, 2
    vpermq  ymm6, ymm6, 0x50
    vpshufd ymm6, ymm6, 0xa0
    vpmulld ymm7, ymm7, ymm6
    ADD_DOT xmm2
    add     rbx, 40
    dec     ecx
    test    cl, 3
    jnz     .part
    test    cl, 4
    jnz     .half
    add     rax, 82
    test    ecx, ecx
    jnz     .block
    pop     rdi
    pop     rsi
    ret
