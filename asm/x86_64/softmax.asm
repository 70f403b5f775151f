; softmax - y = exp(scale y) / sum exp(scale y), in place, zero behind last.  x86-64, AVX2 + FMA.
; Contract asm/kernels.h      Oracle asm/portable/softmax.cpp
; In       rdi y: f32[n]   ecx n, a multiple of 8   r8d last   xmm0 scale
; Clobbers rax rcx rsi ymm0-ymm6
; Holds    ymm4 the sum   ymm5 scale   ymm6 largest
; What lies behind last becomes -infinity first: no largest, and e^-infinity is 0 exactly.
extern exp, sum
global softmax
section .text align=1
softmax:
    vbroadcastss ymm5, xmm0
    mov     esi, r8d
.pad:
    inc     esi
    cmp     esi, ecx
    je      .padded
    mov     dword [rdi + rsi*4], 0xff800000
    jmp     .pad
.padded:                                ; esi = n
    vmovss  xmm6, [rdi]
.max:                                   ; one by one: to find it among lanes would take more code
    dec     esi
    vmaxss  xmm6, xmm6, [rdi + rsi*4]
    jnz     .max
    vbroadcastss ymm6, xmm6
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
