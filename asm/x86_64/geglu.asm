; geglu - y = gelu(y) * x, the tanh form.  x86-64, AVX2 + FMA.
; Contract asm/kernels.h      Oracle asm/portable/geglu.cpp, which has the formula
; In       rdi y: f32[n]   rsi x: f32[n]   ecx n, a multiple of 8
; Clobbers rax rcx ymm0-ymm4
extern exp
global geglu
section .text align=1
geglu:
    sub     ecx, 8                      ; clears the upper half of rcx, which is anybody's
    vmovups ymm4, [rdi + rcx*4]    ; z
    mov     eax, factors
    vbroadcastss ymm0, [rax]
    vbroadcastss ymm1, [rax + 4]
    vmulps  ymm2, ymm4, ymm4
    vfmadd231ps ymm0, ymm1, ymm2
    vmulps  ymm0, ymm0, ymm4            ; -2u
    call    exp
    vaddps  ymm0, ymm0, ymm3            ; 1 + e^-2u
    vdivps  ymm0, ymm4, ymm0
    vmulps  ymm0, ymm0, [rsi + rcx*4]
    vmovups [rdi + rcx*4], ymm0
    test    ecx, ecx
    jnz     geglu
    ret

section .rodata align=1
factors:
    dd -1.59576912, -0.0713548163       ; -2 sqrt(2/pi), the same times 0.044715
