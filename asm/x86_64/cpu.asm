; cpu - has this CPU AVX2, FMA and F16C, and does the system keep the ymm registers?  x86-64.
; Contract asm/kernels.h      Oracle asm/portable/cpu.cpp
; Out      al 1 or 0      Clobbers rax rcx rdx
; CPUID and XGETBV: Intel SDM volume 2A; the order of the checks: volume 1, 14.3.
global cpu_ready, cpu_needs
section .text align=1
cpu_ready:
    push    rbx                         ; cpuid writes it
    push    1
    pop     rax
    cpuid
    not     ecx
    test    ecx, 1 << 12 | 1 << 27 | 1 << 28 | 1 << 29  ; FMA, OSXSAVE, AVX, F16C
    jnz     .no
    xor     ecx, ecx
    xgetbv                              ; what the system saves and restores
    not     eax
    test    al, 6                       ; xmm and ymm state
    jnz     .no
    push    7
    pop     rax                         ; leaf 7: a CPU with FMA has it; ecx is still 0
    cpuid
    not     ebx
    test    bl, 1 << 5                  ; AVX2
.no:
    setz    al
    pop     rbx
    ret

section .rodata align=1
cpu_needs: db "needs AVX2, FMA, F16C", 0
