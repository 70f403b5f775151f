; add - y[i] += x[i].  x86-64, AVX.
; Contract asm/kernels.h      Oracle asm/portable/add.cpp
; In       rdi y: f32[n]   rsi x: f32[n]   ecx n, a multiple of 8      Clobbers rcx ymm0
global add
section .text align=1
add:
    sub     ecx, 8                      ; clears the upper half of rcx, which is anybody's
    vmovups ymm0, [rdi + rcx*4]
    vaddps  ymm0, ymm0, [rsi + rcx*4]
    vmovups [rdi + rcx*4], ymm0
    jnz     add
    ret
