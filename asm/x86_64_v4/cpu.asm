; cpu - has this CPU AVX-512 F, BW and VNNI, and AVX2, FMA and F16C, and does the system keep the
; zmm and opmask registers?  x86-64.
; Contract asm/kernels.h      Oracle asm/portable/cpu.cpp
; Out      al 1 or 0      Clobbers rax rcx rdx
; CPUID and XGETBV: Intel SDM volume 2A; the order of the checks: volume 1, 15.2.
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
    test    al, 0xe6                    ; xmm, ymm, opmask, zmm of both kinds
    jnz     .no
    push    7
    pop     rax                         ; leaf 7: a CPU with FMA has it; ecx is still 0
    cpuid
    not     ebx
    not     ecx
    and     ebx, 1 << 5 | 1 << 16 | 1 << 30  ; AVX2, AVX-512 F, BW
    and     ecx, 1 << 11                ; AVX-512 VNNI
    or      ebx, ecx
.no:
    setz    al
    pop     rbx
    ret

section .rodata align=1
cpu_needs: db "needs AVX-512 F, BW, VNNI", 0
