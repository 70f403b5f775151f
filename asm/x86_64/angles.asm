; angles - cosines and sines of position / factor * base^(-2i/n), i < n/2.  x86-64, x87.
; Contract asm/kernels.h      Oracle asm/portable/angles.cpp
; In       rdi y: f32[n]   rdx w: f32[2] factor, base   ecx n, a multiple of 8   r8d position
; Clobbers rax rcx rdi x87
; The x87 works with 64 bits of mantissa: where its makers differ is far below an f32's last bit.
; The first float of y is the way from the registers to the x87.
global angles
section .text align=1
angles:
    shr     ecx, 1                      ; pairs
    mov     eax, ecx
    mov     [rdi], ecx
    fild    dword [rdi]
    fld1
    fld     dword [rdx + 4]
    fyl2x                               ; log2 base, pairs
    fdivrp                              ; log2 base / pairs: minus the logarithm of the ratio
    fchs
    fld     st0                         ; 2^z = 2^round(z) * 2^(z - round(z))
    frndint
    fsub    st1, st0
    fxch
    f2xm1
    fld1
    faddp
    fscale
    fstp    st1                         ; ratio of one frequency to the one before
    mov     [rdi], r8d
    fild    dword [rdi]
    fdiv    dword [rdx]                 ; the first angle, ratio
.step:
    fld     st0
    fsincos
    fstp    dword [rdi]                 ; cosine
    fstp    dword [rdi + rcx*4]         ; sine
    fmul    st0, st1
    scasd                               ; rdi += 4
    dec     eax
    jnz     .step
    fninit                              ; empties the x87
    ret
