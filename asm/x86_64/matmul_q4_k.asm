; matmul_q4_k - y = W x, weights in Q4_K: f16 scale of scales, of minima, 8 times 6 bits of each, 256 times 4 bits.  x86-64, AVX2 + FMA + F16C.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q4_k.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm
%include "blocks.inc"

extern matmul_blocks
global matmul_q4_k, matmul_q4_k.tile
section .text align=1
matmul_q4_k:
    call    matmul_blocks
.tile:
    vpsllw  ymm10, ymm11, 2
    vpsubb  ymm10, ymm10, ymm12
.block:
    SCALES
.part:
    prefetcht2 [rax + rdx]
    test    cl, 1
    jnz     .upper
    vmovdqu ymm9, [rax + 16]
    add     rax, 32
.upper:
    vpand   ymm7, ymm14, ymm9
    vpsrlw  ymm9, ymm9, 4
    vpmaddubsw ymm7, ymm7, [rbx + 8]
    vmovss  xmm5, [rbx + 4]
    vmovss  xmm6, [rsp]
    vfnmadd231ss xmm1, xmm5, [rsp + 4]
    vpmaddwd ymm7, ymm15, ymm7
    ADD_DOT xmm6
    pop     r11
    add     rbx, 40
    dec     ecx
    test    cl, 7
    jnz     .part
    add     rax, 16
    test    ecx, ecx
    jnz     .block
    ret
