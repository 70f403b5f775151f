; rope - rotates the pairs (x[i], x[i + half]) by the angles in cs.  x86-64, AVX.
; Contract asm/kernels.h      Oracle asm/portable/rope.cpp
; In       rdi x: f32[2 * half]   rsi cs: f32[2][half] cosines, sines   edx half, a multiple of 4
; Clobbers rax rdi rsi xmm0-xmm5
; Four at a time: half may be 4 (a head of 8).  Products and sums are rounded on their own, as the
; oracle's are.
global rope
section .text
rope:
    mov     eax, edx                    ; left; rdx * 4 is the way to the other half
.step:
    vmovups xmm0, [rdi]                 ; re
    vmovups xmm1, [rdi + rdx*4]         ; im
    vmovups xmm2, [rsi]                 ; cos
    vmovups xmm3, [rsi + rdx*4]         ; sin
    vmulps  xmm4, xmm0, xmm2
    vmulps  xmm5, xmm1, xmm3
    vsubps  xmm4, xmm4, xmm5
    vmovups [rdi], xmm4                 ; re cos - im sin
    vmulps  xmm0, xmm0, xmm3
    vmulps  xmm1, xmm1, xmm2
    vaddps  xmm0, xmm0, xmm1
    vmovups [rdi + rdx*4], xmm0         ; re sin + im cos
    add     rdi, 16
    add     rsi, 16
    sub     eax, 4
    jnz     .step
    ret
