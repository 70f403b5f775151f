; matmul_q4_k - y = W x, weights in Q4_K: 8 parts of 32 times 4 bits, each with a scale and a
; minimum of 6 bits.  And the tile of Q5_K, which has fifth bits too.  x86-64, AVX2 + FMA + F16C.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q4_k.cpp, matmul_q5_k.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm   r11 bytes of fifth bits: 0 or 32   ymm8 fifth bits   ymm9 others
;          [rsp] pairs of a scale and less a minimum, those of the part first   ymm10 bytes of 63
;          xmm1 in its second place the minima times x
%include "blocks.inc"

extern matmul_blocks, matmul_blocks.unsigned
global matmul_q4_k, matmul_q4_k.tile, matmul_q4_k.any
section .text align=1
matmul_q4_k:
    call    matmul_blocks
.tile:
    xor     r11d, r11d
.any:
    vpsllw  ymm10, ymm11, 2
    vpsubb  ymm10, ymm10, ymm3
.block:
    vcvtph2ps xmm4, [rax]               ; what scales, what minima are multiplied with
    vpsllq  xmm5, xmm2, 63
    vxorps  xmm4, xmm4, xmm5            ; less the minima
    vbroadcastsd ymm4, xmm4
    vmovd   xmm5, [rax + 4]
    vmovd   xmm6, [rax + 8]
    vpunpcklbw xmm5, xmm5, xmm6         ; 4 times a scale and a minimum: 6 bits of parts 0-3
    vpand   xmm7, xmm10, xmm5
    vpxor   xmm5, xmm5, xmm7            ; and the upper 2 of parts 4-7;
    vpsrlw  xmm5, xmm5, 2
    vpmovzxbw xmm6, [rax + 12]          ; their lower 4, in one byte
    vpsllw  xmm8, xmm6, 4
    vpor    xmm6, xmm8, xmm6
    vpand   xmm6, xmm14, xmm6
    vpor    xmm6, xmm6, xmm5
    sub     rsp, 64
    vpmovzxbd ymm7, xmm7
    vcvtdq2ps ymm7, ymm7
    vmulps  ymm7, ymm7, ymm4
    vmovups [rsp], ymm7
    vpmovzxbd ymm6, xmm6
    vcvtdq2ps ymm6, ymm6
    vmulps  ymm6, ymm6, ymm4
    vmovups [rsp + 32], ymm6
    vmovdqu ymm8, [rax + 16]
    add     rax, r11
.part:
    prefetcht2 [rax + rdx]
    test    cl, 1
    jnz     .upper
    vmovdqu ymm9, [rax + 16]
    add     rax, 32
.upper:
    vpand   ymm4, ymm14, ymm9
    vpsrlw  ymm9, ymm9, 4
    test    r11d, r11d
    jz      .four
    vpand   ymm5, ymm3, ymm8
    vpsllw  ymm5, ymm5, 4
    vpor    ymm4, ymm4, ymm5
    vpsrlw  ymm8, ymm8, 1
.four:
    vpmaddubsw ymm7, ymm4, [rbx + 8]
    vpmaddwd ymm7, ymm2, ymm7
    vcvtdq2ps ymm7, ymm7
    vmovsd  xmm15, [rsp]                ; scale, and less the minimum
    vmovsd  xmm5, [rbx]
    vfmadd231ps xmm1, xmm15, xmm5       ; the minimum by the sum of x
    vmulss  xmm6, xmm15, xmm5
    vbroadcastss ymm6, xmm6
    vfmadd231ps ymm0, ymm6, ymm7
    test    r12d, r12d
    jnz     .others
.next:
    add     rsp, 8
    add     rbx, 40
    dec     ecx
    test    cl, 7
    jnz     .part
    add     rax, 16
    test    ecx, ecx
    jnz     .block
    vinsertps xmm1, xmm1, xmm1, 0x4e    ; what the minima make, alone
    ret
.others:
    vmovss  xmm12, [rsp + 4]
    call    matmul_blocks.unsigned
    jmp     .next
