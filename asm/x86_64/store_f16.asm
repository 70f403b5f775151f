; store_f16 - f32 to f16, round to nearest even, with a stride.  x86-64, F16C.
; Contract asm/kernels.h      Oracle asm/portable/store_f16.cpp
; In       rdi dst   rsi src: f32[n]   edx n   rcx stride in bytes      Clobbers rax edx rdi rsi xmm0
; One at a time: the values of V go to places far apart.
global store_f16
section .text align=1
store_f16:
    lodsd
    vmovd   xmm0, eax
    vcvtps2ph xmm0, xmm0, 0             ; 0: to nearest even
    vpextrw [rdi], xmm0, 0
    add     rdi, rcx
    dec     edx
    jnz     store_f16
    ret
