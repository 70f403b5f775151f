; softcap - y = tanh(scale * y) = 1 - 2 / (1 + e^(2 scale y)), in place.  x86-64, AVX2 + FMA.
; Contract asm/kernels.h      Oracle asm/portable/softcap.cpp
; In       rdi y: f32[n]   ecx n, a multiple of 8   xmm0 scale
; Clobbers rax rcx ymm0-ymm4      Holds ymm4 2 scale
extern exp
global softcap
section .text align=1
softcap:
    vaddss  xmm0, xmm0, xmm0
    vbroadcastss ymm4, xmm0
.step:
    sub     ecx, 8                      ; clears the upper half of rcx, which is anybody's
    vmulps  ymm0, ymm4, [rdi + rcx*4]
    call    exp
    vaddps  ymm0, ymm0, ymm3            ; ones
    vdivps  ymm0, ymm3, ymm0
    vaddps  ymm0, ymm0, ymm0
    vsubps  ymm0, ymm3, ymm0
    vmovups [rdi + rcx*4], ymm0
    test    ecx, ecx
    jnz     .step
    ret
