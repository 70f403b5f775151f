; quantise - activations to 8 bits, with a scale for each 32.  x86-64, AVX2.
; Contract asm/kernels.h      Oracle asm/portable/quantise.cpp
; In       rdi y: Quantised[n / 32]   rsi x: f32[n]   ecx n, a multiple of 32
; Clobbers rax rcx rsi rdi ymm0-ymm5
; Holds    ymm1 largest, then scale   ymm2 sum   ymm4 all bits but the sign   xmm5 127
; Reads    exactly x[0..n)
global quantise
section .text align=1
quantise:
    vpcmpeqd ymm4, ymm4, ymm4
    vpsrld  ymm4, ymm4, 1
    mov     eax, 0x42fe0000             ; 127.0
    vmovd   xmm5, eax
.block:
    sub     rsi, -128
    mov     eax, 0x0d800000             ; 2^-100
    vmovd   xmm1, eax
    push    -128
    pop     rax
.largest:
    vandps  ymm0, ymm4, [rsi + rax]
    vmaxps  ymm1, ymm1, ymm0
    add     rax, 32
    jnz     .largest
    vextractf128 xmm0, ymm1, 1
    vmaxps  xmm1, xmm1, xmm0
    vmovhlps xmm0, xmm1, xmm1
    vmaxps  xmm1, xmm1, xmm0
    vmovshdup xmm0, xmm1
    vmaxss  xmm1, xmm1, xmm0
    vdivss  xmm1, xmm1, xmm5
    vbroadcastss ymm1, xmm1
    vxorps  xmm2, xmm2, xmm2
    push    -128
    pop     rax
.divide:
    vmovups ymm0, [rsi + rax]
    vdivps  ymm0, ymm0, ymm1
    vcvtps2dq ymm0, ymm0
    vpaddd  ymm2, ymm2, ymm0
    vextracti128 xmm3, ymm0, 1
    vpackssdw xmm0, xmm0, xmm3
    vpacksswb xmm0, xmm0, xmm0
    vmovq   [rdi + 8], xmm0
    add     rdi, 8
    add     rax, 32
    jnz     .divide
    vextracti128 xmm0, ymm2, 1
    vpaddd  xmm2, xmm2, xmm0
    vphaddd xmm2, xmm2, xmm2
    vphaddd xmm2, xmm2, xmm2
    vcvtdq2ps xmm2, xmm2
    vmulss  xmm2, xmm2, xmm1
    vunpcklps xmm1, xmm1, xmm2
    vmovlps [rdi - 32], xmm1
    add     rdi, 8
    sub     ecx, 32
    jnz     .block
    ret
