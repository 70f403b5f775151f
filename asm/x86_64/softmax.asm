; softmax - y = exp(scale y) / sum exp(scale y), in place.  x86-64, AVX2 + FMA.
; Contract asm/kernels.h      Oracle asm/portable/softmax.cpp
; In       rdi y: f32[n]   ecx n, a multiple of 8   xmm0 scale
; Clobbers rax rcx rsi ymm0-ymm6
; Holds    ymm4 the sum   ymm5 scale   ymm6 largest
; e^-infinity is 0 exactly.
extern exp, sum
global softmax
section .text align=1
softmax:
    vbroadcastss ymm5, xmm0
    mov     esi, ecx
    vmovups ymm6, [rdi]
.max:
    vmaxps  ymm6, ymm6, [rdi + rsi*4 - 32]
    sub     esi, 8
    jnz     .max
    vperm2f128 ymm0, ymm6, ymm6, 1
    vmaxps  ymm6, ymm6, ymm0
    vshufps ymm0, ymm6, ymm6, 0x4e
    vmaxps  ymm6, ymm6, ymm0
    vshufps ymm0, ymm6, ymm6, 0xb1
    vmaxps  ymm6, ymm6, ymm0            ; in all lanes
    vxorps  xmm4, xmm4, xmm4
.exp:                                   ; upwards, from esi = 0
    vmovups ymm0, [rdi + rsi*4]
    vsubps  ymm0, ymm0, ymm6
    vmulps  ymm0, ymm0, ymm5
    call    exp
    vmovups [rdi + rsi*4], ymm0
    vaddps  ymm4, ymm4, ymm0
    add     esi, 8
    cmp     esi, ecx
    jb      .exp
    call    sum
.divide:                                ; downwards, from ecx = n
    sub     ecx, 8
    vmovups ymm0, [rdi + rcx*4]
    vdivps  ymm0, ymm0, ymm4
    vmovups [rdi + rcx*4], ymm0
    jnz     .divide
    ret
