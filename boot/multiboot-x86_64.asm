; multiboot-x86_64 - mote's door on bare metal.  Pieces in the order in which they run.
; A boot loader (QEMU's -kernel, GRUB) has found the header in linux-x86_64.asm, has loaded the file
; at 1 MiB and jumps to multiboot_start in 32-bit protected mode: flat segments, no paging, no
; interrupts; ebx points to its information about the machine (Multiboot 0.6.96, 3.2 and 3.3).
; Out      long mode, vector registers on, `syscall` answered; then main(), with argv in rdi
; Holds    ebp the information, and 0 on the other cores
; Read next: memory.inc, syscalls-x86_64.asm.
%include "memory.inc"
default rel
extern image_end, image_size, gdt, syscalls, faults, main

MSR_EFER  equ 0xc0000080                ; AMD64 APM 2, appendix A
MSR_LSTAR equ 0xc0000082
LAPIC_ICR equ 0xfee00300                ; Intel SDM 3A, 11.6.1; in bits 18 and 19 all but this core

section .text align=1
bits 32
global multiboot_start
multiboot_start:
    mov     ebp, ebx
    cld
    xor     eax, eax                    ; no entry, no variable
    mov     edi, TABLES
    mov     ecx, (DIRECTORY - TABLES) / 4
    rep stosd
    xor     edx, edx                    ; 64 GiB in pages of 2 MiB, each where it is:
    mov     al, 0x83                    ; large page, writable, present
    mov     ecx, GIGABYTES * 512
.page:
    stosd
    xchg    eax, edx
    stosd
    xchg    eax, edx
    add     eax, 1 << 21
    adc     edx, 0
    loop    .page
    mov     edi, TABLES + 0x1000
    mov     dword [edi - 0x1000], TABLES + 0x1003
    mov     eax, DIRECTORY + 3
    mov     cl, GIGABYTES
.directory:
    stosd
    scasd
    add     eax, 0x1000
    loop    .directory
    mov     edi, DATA
    mov     esi, trampoline
    mov     cl, trampoline_end - trampoline
    rep movsb
    mov     edi, IDT                    ; gates: Intel SDM 3A, 6.14.1
    mov     eax, faults                 ; 0x10....: offset, below the selector of 64-bit code
    mov     edx, 0x108e00               ; an interrupt gate, below the offset's upper half
    mov     cl, 32
.gate:
    stosd
    xchg    eax, edx
    stosd
    xchg    eax, edx
    scasd
    scasd
    inc     eax
    loop    .gate
    lgdt    [gdtr]

; Every core comes by here, in 32-bit protected mode; others than the first with no segment but CS.
long_mode:
    mov     eax, 1
    cpuid
    shr     ecx, 26 - 18                ; XSAVE: CPUID, leaf 1
    and     ecx, 1 << 18                ; if there, OSXSAVE
    or      ecx, 1 << 5 | 1 << 9 | 1 << 10  ; PAE, OSFXSR, OSXMMEXCPT
    mov     cr4, ecx
    mov     eax, TABLES
    mov     cr3, eax
    mov     ecx, MSR_EFER
    mov     eax, 1 << 8 | 1 << 0        ; LME, SCE
    xor     edx, edx
    wrmsr
    mov     cl, MSR_LSTAR & 0xff        ; STAR may hold anything: in ring 0 the selectors that
    mov     eax, syscalls               ; syscall takes from it are never looked up
    wrmsr
    cs lidt [idtr]
    mov     eax, 1 << 31 | 1 << 5 | 1 << 4 | 1 << 1 | 1 << 0  ; PG, NE, ET, MP, PE
    mov     cr0, eax
    jmp     16:.here
bits 64
.here:
    fninit
    mov     rax, cr4
    bt      eax, 18
    jnc     .no_xsave
    mov     eax, 13                     ; leaf 13: the states that this CPU can save
    xor     ecx, ecx
    cpuid
    xor     ecx, ecx
    xsetbv                              ; all of them
.no_xsave:
    mov     r11d, DATA
    test    ebp, ebp
    jnz     first_core

; Another core takes the first thread that comes in a while; if none does it is not needed.
    mov     ecx, 1 << 22
.wait:
    pause
    xor     eax, eax
    xchg    rax, [r11 + variable.mailbox]
    test    rax, rax
    jnz     .run
    loop    .wait
.sleep:
    hlt
    jmp     .sleep
.run:
    mov     rsp, rax                    ; clone in syscalls-x86_64.asm has prepared it
    pop     rdx
    pop     rbx
    xor     eax, eax
    ret

first_core:
    mov     esp, STACK

; The command line becomes argv, in place; as in a shell, quotes and backslashes.
; Holds    rsi, rdi read and write pointers, rdx the next of argv, cl what ends this part
    mov     edx, ARGV
    mov     eax, [rbp + 64]             ; the boot loader's name, for argv[0]:
    mov     [rdx], rax
    cmp     byte [rax], 'q'             ; "qemu" begins the line with the kernel's, GRUB without
    je      .named
    add     edx, 8
.named:
    mov     esi, [rbp + 16]
    mov     edi, esi
.word:
    mov     cl, ' '
.blank:
    lodsb
    cmp     al, cl
    je      .blank
    test    al, al
    jz      .line_end
    mov     [rdx], rdi
    add     edx, 8
.char:
    cmp     al, cl
    je      .close
    cmp     cl, ' '
    jne     .escape                     ; between quotes
    cmp     al, '"'
    je      .open
    cmp     al, "'"
    je      .open
.escape:
    cmp     al, '\'
    jne     .store
    lodsb
.store:
    stosb
    test    al, al
    jz      .line_end
.next:
    lodsb
    jmp     .char
.open:
    mov     cl, al
    jmp     .next
.close:
    cmp     cl, ' '
    mov     cl, ' '
    jne     .next
    xor     eax, eax
    stosb
    jmp     .word
.line_end:
    and     qword [rdx], 0

; The model: a module, or what follows the image, or a memory device at 4 GiB.
; Holds    rdi the end of what has to stay, rdx and rcx the model's beginning and end
    mov     edx, image_end
    cmp     edi, edx
    cmovb   edi, edx
    mov     esi, [rbp + 24]
    mov     ecx, esi                    ; behind the image QEMU describes the modules
    cmp     dword [rbp + 20], 0
    je      .no_module
    mov     edx, [rsi]
    mov     ecx, [rsi + 4]
    mov     eax, [rsi + 8]
    mov     [abs ARGV], rax             ; its name, for messages
    cmp     edi, ecx
    cmovb   edi, ecx
    jmp     .model
.no_module:
    cmp     dword [rdx], 'GGUF'
    je      .model
    xor     ecx, ecx
    xor     edx, edx
    bts     rcx, 32
    cmp     dword [rcx], 'GGUF'
    jne     .no_model
    push    rcx
    xor     esi, esi
.slot:                                  ; their sizes: QEMU, docs/specs/acpi_mem_hotplug.txt
    mov     edx, 0xa00
    xchg    eax, esi
    out     dx, eax
    inc     eax
    xchg    eax, esi
    mov     dl, 0x0c
    in      eax, dx
    shl     rax, 32
    add     rcx, rax
    mov     dl, 0x08
    in      eax, dx
    add     rcx, rax
    test    eax, eax
    jnz     .slot
    pop     rdx
    jmp     .model
.no_model:
    xor     ecx, ecx
.model:
    sub     rdx, image_size
    mov     [r11 + variable.file], rdx
    sub     rcx, rdx
    mov     [r11 + variable.file_size], rcx

; The heap: of the memory map's free regions, each above what has to stay, the largest.
    mov     esi, [rbp + 48]
    mov     ecx, [rbp + 44]
    add     ecx, esi
.region:
    mov     rax, [rsi + 4]
    mov     rdx, [rsi + 12]
    add     rdx, rax
    cmp     rax, rdi
    cmovb   rax, rdi
    mov     r8, rdx
    sub     r8, rax
    cmp     r8, r9
    jle     .skip
    cmp     dword [rsi + 20], 1
    jne     .skip
    mov     r9, r8
    or      ax, 4095
    inc     rax
    mov     [r11 + variable.heap], rax
    mov     [r11 + variable.heap_start], rax
    mov     [r11 + variable.heap_end], rdx
.skip:
    mov     eax, [rsi]
    lea     rsi, [rsi + rax + 4]
    cmp     esi, ecx
    jb      .region

; The other cores get the INIT that has to come some ms before they are started, in clone; the
; while the TSC is measured against the PIT, of which channel 2 is the speaker's (Intel 8254).
    mov     eax, LAPIC_ICR
    mov     dword [rax], 0xc4500
    mov     al, 1
    out     0x61, al                    ; count, and no sound
    mov     al, 0xa0                    ; channel 2, upper byte, mode 0: once
    out     0x43, al
    mov     al, PERIOD >> 8
    out     0x42, al
    rdtsc
    xchg    eax, ecx
.pit:
    in      al, 0x61
    test    al, 1 << 5
    jz      .pit
    rdtsc
    sub     eax, ecx
    mov     [r11 + variable.period], rax
    mov     edi, ARGV
    jmp     main

; Another core wakes up here, or rather in the copy at DATA: real mode, CS = DATA / 16, DS = 0.
bits 16
trampoline:
    cs lgdt [gdtr_offset]
    mov     ax, 1
    lmsw    ax                          ; PE: protected mode
    jmp     dword 8:long_mode
gdtr:
    dw      23
    dd      gdt
gdtr_offset equ gdtr - trampoline
trampoline_end:

idtr:
    dw      32 * 16 - 1
    dd      IDT
