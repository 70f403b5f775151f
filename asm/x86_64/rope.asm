; rope - rotates the pairs (y[i], y[n/2 + i]) by the angles in x.  x86-64, AVX.
; Contract asm/kernels.h      Oracle asm/portable/rope.cpp
; In       rdi y: f32[n]   rsi x: f32[2][n/2] cosines, sines   ecx n, a multiple of 8
; Clobbers rax rcx rdi rsi xmm0-xmm5
; Four at a time: half a head may be 4.  Products and sums are rounded on their own, as the oracle's.
global rope
section .text
rope:
    shr     ecx, 1                      ; rcx * 4 is the way to the other half
    mov     eax, ecx                    ; left
.step:
    vmovups xmm0, [rdi]                 ; re
    vmovups xmm1, [rdi + rcx*4]         ; im
    vmovups xmm2, [rsi]                 ; cos
    vmovups xmm3, [rsi + rcx*4]         ; sin
    vmulps  xmm4, xmm0, xmm2
    vmulps  xmm5, xmm1, xmm3
    vsubps  xmm4, xmm4, xmm5
    vmovups [rdi], xmm4                 ; re cos - im sin
    vmulps  xmm0, xmm0, xmm3
    vmulps  xmm1, xmm1, xmm2
    vaddps  xmm0, xmm0, xmm1
    vmovups [rdi + rcx*4], xmm0         ; re sin + im cos
    add     rdi, 16
    add     rsi, 16
    sub     eax, 4
    jnz     .step
    ret
