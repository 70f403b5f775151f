; quantise - activations to 8 bits, with a scale for each 32.  x86-64, AVX2.
; Contract asm/kernels.h      Oracle asm/portable/quantise.cpp
; In       rdi y: Quantised[n / 32]   rsi x: f32[n]   ecx n
; Clobbers rax rcx rdx rsi rdi ymm0-ymm6
; Holds    al where in x, twice over   xmm1 largest, then scale   ymm2 words of 1
;          xmm3 all bits but the sign   xmm4 127   ymm5 bytes of 1
; Reads    exactly x[0..n), but for what is left behind the last 32
global quantise
section .text align=1
; Offsets below: struct Quantised's, 32 less where rdi has gone on.
quantise:
    vpcmpeqd ymm3, ymm3, ymm3
    vpabsb  ymm5, ymm3
    vpabsw  ymm2, ymm3
    vpsrld  xmm3, xmm3, 1
    mov     eax, 0x42fe0000             ; 127.0
    vmovd   xmm4, eax
    xor     eax, eax
    shr     ecx, 5
    jz      .done
.block:
    mov     edx, 0x0d800000             ; 2^-100
    vmovd   xmm1, edx
.largest:
    vandps  xmm0, xmm3, [rsi + rax]
    vmaxps  xmm1, xmm1, xmm0
    add     al, 16
    jns     .largest                    ; 0 to 127
    vmovhlps xmm0, xmm1, xmm1
    vmaxps  xmm1, xmm1, xmm0
    vmovshdup xmm0, xmm1
    vmaxss  xmm1, xmm1, xmm0
    vdivss  xmm1, xmm1, xmm4
    vmovss  [rdi], xmm1
    vbroadcastss xmm1, xmm1
.divide:
    vmovups xmm0, [rsi + rax - 128]
    vdivps  xmm0, xmm0, xmm1
    vcvtps2dq xmm0, xmm0
    vpackssdw xmm0, xmm0, xmm0
    vpacksswb xmm0, xmm0, xmm0
    vmovd   [rdi + 12], xmm0
    add     rdi, 4
    add     al, 16
    jnz     .divide                     ; 128 to 255: 0 again
    vpmaddubsw ymm0, ymm5, [rdi - 20]
    vpmaddwd ymm0, ymm0, ymm2
    vphaddd ymm0, ymm0, ymm0
    vphaddd ymm0, ymm0, ymm0            ; in each lane the sum of 16
    vextracti128 xmm6, ymm0, 1
    vpunpcklwd xmm0, xmm0, xmm6
    vmovd   [rdi - 24], xmm0
    vpmaddwd xmm0, xmm0, xmm2           ; of 32
    vcvtdq2ps xmm0, xmm0
    vmulss  xmm0, xmm0, xmm1
    vmovss  [rdi - 28], xmm0
    sub     rsi, -128
    add     rdi, 12
    dec     ecx
    jnz     .block
.done:
    ret
