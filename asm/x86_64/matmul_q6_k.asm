; matmul_q6_k - y = W x, weights in Q6_K: 256 times 4 bits, 256 times 2 bits, less 32; 16 i8 scales,
; and their f16 scale.  x86-64, AVX2 + FMA + F16C.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q6_k.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm   rsi upper bits   rdi scales   xmm15 their scale
;          ymm3, ymm13 lower bits of this part and of the next   ymm12 upper bits
;          ymm8 dwords of 8 below, 0 above   ymm9 bytes of 32   ymm10 bytes of 48
%include "blocks.inc"

extern matmul_blocks, matmul_blocks.others
global matmul_q6_k, matmul_q6_k.tile
section .text align=1
matmul_q6_k:
    call    matmul_blocks
.tile:
    push    rsi
    push    rdi
    vpsrld  xmm8, xmm2, 13
    vpaddb  ymm9, ymm11, ymm11
    vpaddb  ymm10, ymm9, ymm11
.block:
    lea     rsi, [rax + 128]
    lea     rdi, [rsi + 64]
    prefetcht2 [rsi + rdx]
    prefetcht2 [rdi + rdx]
    vpbroadcastw xmm7, [rdi + 16]
    vcvtph2ps xmm15, xmm7
.half:
    prefetcht2 [rax + rdx]
    vmovdqu ymm3, [rax]
    vmovdqu ymm13, [rax + 32]
    vmovdqu ymm12, [rsi]
    add     rax, 64
    add     rsi, 32
.part:
    vpand   ymm4, ymm14, ymm3
    vpsrlw  ymm6, ymm3, 4
    vmovdqa ymm3, ymm13
    vmovdqa ymm13, ymm6
    vpsllw  ymm6, ymm12, 4
    vpand   ymm6, ymm10, ymm6
    vpor    ymm4, ymm4, ymm6
    vpsrlw  ymm12, ymm12, 2
    vpmaddubsw ymm7, ymm4, [rbx + 8]
    OFFSET  ymm9
    vpbroadcastw ymm2, [rdi]            ; two scales: as words, the first below, the second above
    vpsllvd ymm2, ymm2, ymm8
    vpsraw  ymm2, ymm2, 8
    vpmaddwd ymm7, ymm7, ymm2
    ADD_DOT xmm15
    test    r12d, r12d
    jnz     .others
.next:
    add     rdi, 2
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
.others:
    call    matmul_blocks.others
    jmp     .next
