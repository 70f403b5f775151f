; rope - rotates the pairs (y[i], y[n/2 + i]) by the angles in x.  x86-64, FMA.
; Contract asm/kernels.h      Oracle asm/portable/rope.cpp
; In       rdi y: f32[n]   rsi x: f32[2][n/2] cosines, sines   ecx n, a multiple of 8
; Clobbers rax rcx rdi rsi xmm0-xmm2      Four at a time: half a head may be 4
global rope
section .text align=1
rope:
    shr     ecx, 1                      ; rcx * 4 is the way to the other half
    mov     eax, ecx                    ; left
.step:
    vmovups xmm0, [rdi]                 ; re
    vmovups xmm1, [rdi + rcx*4]         ; im
    vmulps  xmm2, xmm1, [rsi + rcx*4]
    vfmsub231ps xmm2, xmm0, [rsi]       ; re cos - im sin
    vmulps  xmm1, xmm1, [rsi]
    vfmadd231ps xmm1, xmm0, [rsi + rcx*4]  ; re sin + im cos
    vmovups [rdi], xmm2
    vmovups [rdi + rcx*4], xmm1
    add     rdi, 16
    add     rsi, 16
    sub     eax, 4
    jnz     .step
    ret
