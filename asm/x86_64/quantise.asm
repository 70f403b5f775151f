; quantise - activations to 8 bits, with a scale for each 32.  x86-64, AVX2.
; Contract asm/kernels.h      Oracle asm/portable/quantise.cpp
; In       rdi y: Quantised[n / 32]   rsi x: f32[n]   ecx n
; Clobbers rax rcx rsi rdi xmm0-xmm4
; Holds    rsi + rax x   xmm1 largest, then scale   xmm2 sum   xmm3 all bits but the sign   xmm4 127
; Reads    exactly x[0..n), but for what is left behind the last 32
global quantise
section .text align=1
quantise:
    vpcmpeqd xmm3, xmm3, xmm3
    vpsrld  xmm3, xmm3, 1
    mov     eax, 0x42fe0000             ; 127.0
    vmovd   xmm4, eax
    shr     ecx, 5
    jz      .done
.block:
    sub     rsi, -128
    mov     eax, 0x0d800000             ; 2^-100
    vmovd   xmm1, eax
    push    -128
    pop     rax
.largest:
    vandps  xmm0, xmm3, [rsi + rax]
    vmaxps  xmm1, xmm1, xmm0
    add     rax, 16
    jnz     .largest
    vmovhlps xmm0, xmm1, xmm1
    vmaxps  xmm1, xmm1, xmm0
    vmovshdup xmm0, xmm1
    vmaxss  xmm1, xmm1, xmm0
    vdivss  xmm1, xmm1, xmm4
    vbroadcastss xmm1, xmm1
    vxorps  xmm2, xmm2, xmm2
    push    -128
    pop     rax
.divide:
    vmovups xmm0, [rsi + rax]
    vdivps  xmm0, xmm0, xmm1
    vcvtps2dq xmm0, xmm0
    vpaddd  xmm2, xmm2, xmm0
    vpackssdw xmm0, xmm0, xmm0
    vpacksswb xmm0, xmm0, xmm0
    vmovd   [rdi + 8], xmm0
    add     rdi, 4
    add     rax, 16
    jnz     .divide
    vphaddd xmm2, xmm2, xmm2
    vphaddd xmm2, xmm2, xmm2
    vcvtdq2ps xmm2, xmm2
    vmulss  xmm2, xmm2, xmm1
    vunpcklps xmm1, xmm1, xmm2
    vmovlps [rdi - 32], xmm1
    add     rdi, 8
    dec     ecx
    jnz     .block
.done:
    ret
