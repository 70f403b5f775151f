; rmsnorm - y[i] = x[i] * w[i] / sqrt(mean(x^2) + eps).  x86-64, AVX2 + FMA.
; Contract asm/kernels.h      Oracle asm/portable/rmsnorm.cpp
; In       rdi y: f32[n]   rsi x: f32[n]   rdx w: f32[n]   ecx n, a multiple of 8   xmm0 eps
; Out      y (may be x)     Clobbers rax rcx ymm2-ymm4
; Holds    ymm4 sum of squares, then the root
; Reads    exactly x[0..n) and w[0..n)
extern sum
global rmsnorm
section .text align=1
rmsnorm:
    vxorps  xmm4, xmm4, xmm4
    mov     eax, ecx
.square:                                ; downwards, as below
    sub     eax, 8
    vmovups ymm2, [rsi + rax*4]
    vfmadd231ps ymm4, ymm2, ymm2
    jnz     .square
    call    sum
    vcvtsi2ss xmm2, xmm2, ecx
    vdivss  xmm4, xmm4, xmm2
    vaddss  xmm4, xmm4, xmm0
    vsqrtss xmm4, xmm4, xmm4
    vbroadcastss ymm4, xmm4
.scale:
    sub     ecx, 8
    vmovups ymm2, [rsi + rcx*4]
    vmulps  ymm2, ymm2, [rdx + rcx*4]
    vdivps  ymm2, ymm2, ymm4
    vmovups [rdi + rcx*4], ymm2
    jnz     .scale
    ret
