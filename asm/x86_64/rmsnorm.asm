; rmsnorm - y[i] = x[i] * w[i] / sqrt(mean(x^2) + eps).  x86-64, AVX2 + FMA.
; Contract asm/kernels.h      Oracle asm/portable/rmsnorm.cpp
; In       rdi y: f32[n]   rsi x: f32[n]   rdx w: f32[n]   ecx n, a multiple of 8   xmm0 eps
; Out      y (may be x)     Clobbers rax ymm0-ymm2
; Holds    ymm1 sum of squares, then the root
; Reads    exactly x[0..n) and w[0..n)
global rmsnorm
section .text align=1
rmsnorm:
    vxorps  xmm1, xmm1, xmm1
    xor     eax, eax
.square:
    vmovups ymm2, [rsi + rax*4]
    vfmadd231ps ymm1, ymm2, ymm2
    add     eax, 8
    cmp     eax, ecx
    jb      .square
    vextractf128 xmm2, ymm1, 1
    vaddps  xmm1, xmm1, xmm2
    vhaddps xmm1, xmm1, xmm1
    vhaddps xmm1, xmm1, xmm1
    vcvtsi2ss xmm2, xmm2, ecx
    vdivss  xmm1, xmm1, xmm2
    vaddss  xmm1, xmm1, xmm0
    vsqrtss xmm1, xmm1, xmm1
    vbroadcastss ymm1, xmm1
.scale:                                 ; downwards, from eax = n
    vmovups ymm2, [rsi + rax*4 - 32]
    vmulps  ymm2, ymm2, [rdx + rax*4 - 32]
    vdivps  ymm2, ymm2, ymm1
    vmovups [rdi + rax*4 - 32], ymm2
    sub     eax, 8
    jnz     .scale
    ret
