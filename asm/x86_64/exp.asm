; exp - eight exponentials.  x86-64, AVX2 + FMA.  Called by softmax and geglu.
; Oracle asm/portable/exp.h, which explains the method
; In       ymm0 x      Out  ymm0 e^x, relative error 2e-7 + 1e-7 |x|, 0 below -88, e^88 above
; Clobbers rax ymm1-ymm3      ymm3 leaves as eight ones
; Rounding by magic number: at 1.5 * 2^23 an f32's last bit is worth 1, so x log2 e + magic holds
; round(x log2 e) in its low bits; with 127 more, shifted to the exponent's place, that is 2^k.
global exp
section .text align=1
exp:
    mov     eax, table
    vbroadcastss ymm1, [rax]
    vmaxps  ymm0, ymm0, ymm1
    vbroadcastss ymm1, [rax + 4]
    vminps  ymm0, ymm0, ymm1
    vbroadcastss ymm1, [rax + 8]
    vmulps  ymm0, ymm0, ymm1            ; x log2 e
    vbroadcastss ymm3, [rax + 12]       ; magic
    vaddps  ymm1, ymm0, ymm3            ; k + 127 in the low bits
    vsubps  ymm3, ymm1, ymm3            ; k
    vsubps  ymm0, ymm0, ymm3            ; t = x log2 e - k, |t| <= 1/2
    vpslld  ymm1, ymm1, 23              ; 2^k; 0 for k = -127
    vbroadcastss ymm2, [rax + 16]
.horner:
    add     eax, 4
    vbroadcastss ymm3, [rax + 16]
    vfmadd213ps ymm2, ymm0, ymm3
    cmp     eax, table.last
    jne     .horner
    vmulps  ymm0, ymm1, ymm2
    ret

section .rodata align=1
table:
    dd -88.0296919, 88.0, 1.44269504, 12583039.0
    dd 0.00132646912, 0.00967153441, 0.0555073395, 0.240222424, 0.693147004, 1.0
.last equ $ - 20
