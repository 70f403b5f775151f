; multiboot-x86_64 - mote's door on bare metal.  Its pieces stand in the order in which they run.
; A boot loader (QEMU's -kernel, GRUB) has found the header in linux-x86_64.asm, has loaded the file
; at 1 MiB and jumps to multiboot_start: 32-bit protected mode, flat segments, no paging, interrupts
; off; ebx points to its information about the machine (Multiboot 0.6.96, 3.2 and 3.3).
; Out      main(), with argv in rdi: 64-bit mode, vector registers on, `syscall` answered
; Holds    ebp that information, and 0 on the other cores;  r11 VARIABLES
; Read next: memory.inc, syscalls-x86_64.asm.
%include "memory.inc"
default rel
extern image_end, image_size, gdt, idtr, syscalls, faults, main
global multiboot_start

MSR_EFER  equ 0xc0000080                ; AMD64 APM 2, appendix A
MSR_LSTAR equ 0xc0000082
KERNEL_CODE_32 equ 8                    ; selectors: `gdt` in linux-x86_64.asm
KERNEL_CODE_64 equ 16

section .text align=1
bits 32
multiboot_start:
    mov     ebp, ebx
    mov     esp, STACK
    cld
    mov     edi, DATA                   ; no variable, no entry of any table
    push    edi
    xor     eax, eax
    mov     ecx, (DIRECTORY - DATA) / 4
    rep stosd
    mov     al, 0x83                    ; edx:eax an entry: large page, writable, present;
    xor     edx, edx                    ; address 0 and upwards
    mov     ch, GIGABYTES * 512 >> 8
.page:
    stosd
    xchg    eax, edx
    stosd
    xchg    eax, edx
    add     eax, 2 << 20
    adc     edx, 0
    loop    .page
    mov     edi, PDPT
    lea     eax, [edi + 3]              ; writable, present
    mov     [edi + PML4 - PDPT], eax
    mov     cl, GIGABYTES
.directory:
    add     eax, 0x1000
    stosd
    scasd
    loop    .directory
    pop     edi
    mov     esi, wake_up
    mov     cl, IDT - DATA
    rep movsb
    mov     eax, faults                 ; 0x0010nnnn: the lower half of the address, and a selector
    mov     edx, 0x108e00               ; an interrupt gate, and the upper half
    mov     cl, VECTORS
.gate:
    stosd
    xchg    eax, edx
    stosd
    xchg    eax, edx
    scasd
    scasd
    inc     eax
    loop    .gate
    lgdt    [esi + gdtr - wake_up_end]
    mov     dword [LAPIC_ICR], INIT     ; has to come some ms before clone starts the other cores

; Every core comes by here: 32-bit protected mode, flat CS; the others have no other segment.
long_mode:
    xor     eax, eax
    inc     eax
    cpuid
    shr     ecx, 26 - 18                ; XSAVE: CPUID, leaf 1.  If there,
    and     ecx, 1 << 18                ; OSXSAVE
    mov     cx, 1 << 10 | 1 << 9 | 1 << 5  ; OSXMMEXCPT, OSFXSR, PAE
    mov     cr4, ecx
    bt      ecx, 18
    jnc     .no_xsave
    xor     ecx, ecx
    lea     eax, [ecx + 13]             ; leaf 13: the states that this CPU knows,
    cpuid
    xor     ecx, ecx
    xsetbv                              ; all of them
.no_xsave:
    mov     eax, PML4
    mov     cr3, eax
    cs lidt [idtr]
    mov     ecx, MSR_EFER
    mov     eax, 1 << 8 | 1 << 0        ; LME, SCE
    xor     edx, edx
    wrmsr
    mov     cl, MSR_LSTAR & 0xff        ; STAR may hold anything: in ring 0 the selectors that
    mov     eax, syscalls               ; syscall takes from it are never looked up
    wrmsr
    mov     eax, 1 << 31 | 1 << 5 | 1 << 4 | 1 << 1 | 1 << 0  ; PG, NE, ET, MP, PE
    mov     cr0, eax
    jmp     KERNEL_CODE_64:.here
bits 64
.here:
    fninit
    mov     r11d, VARIABLES
    test    ebp, ebp
    jnz     first_core

; Another core takes the first thread that comes in a while.
    shr     ecx, 9                      ; from 3 billion (the last MSR) to 6 million
.wait:
    pause
    xor     eax, eax
    xchg    rax, [r11 + variable.mailbox]
    test    rax, rax
    loopz   .wait
    jnz     .run
.sleep:
    hlt                                 ; nobody wants it
    jmp     .sleep
.run:
    xchg    rax, rsp                    ; made by clone in syscalls-x86_64.asm
    pop     rdx
    pop     rbx
    xor     eax, eax
    ret

; The command line becomes argv, in place, with "quotes" and backslashes as in a shell.
; Holds    rsi, rdi reader and writer;  rdx the next of argv;  cl what ends a word
first_core:
    mov     edx, ARGV
    mov     eax, [rbp + 64]             ; the boot loader's name becomes argv[0],
    mov     [rdx], rax
    cmp     byte [rax], 'q'             ; but "qemu" begins the line with the kernel's
    je      .line
    add     edx, 8
.line:
    mov     esi, [rbp + 16]
    mov     edi, esi
    mov     cl, ' '
.word:
    lodsb
    test    al, al
    jz      .no_word
    cmp     al, cl
    je      .word
    mov     [rdx], rdi
    add     edx, 8
    jmp     .char
.word_end:
    mov     al, 0
    stosb
    jmp     .word
.quote:
    xor     cl, ' ' ^ '"'
.next:
    lodsb
.char:
    cmp     al, '"'
    je      .quote
    cmp     al, cl
    je      .word_end
    cmp     al, '\'
    jne     .store
    lodsb
.store:
    stosb
    test    al, al
    jnz     .next
.no_word:
    and     qword [rdx], 0

; The model: a module, or what stands behind the image, or a memory device.
; Holds    rdi the end of what has to stay;  rdx, rcx the model's beginning and end
    mov     edx, image_end
    or      edi, edx                    ; no less than either, and little more: 2 MiB
    mov     esi, [rbp + 24]
    mov     ecx, [rbp + 20]
    jrcxz   .no_module
    lodsd
    xchg    eax, edx
    lodsd
    xchg    eax, ecx
    lodsd
    mov     [abs ARGV], eax             ; for messages
    or      edi, ecx
    jmp     .model
.no_module:
    mov     ecx, esi                    ; QEMU describes its modules behind what it has loaded, and
    cmp     byte [rsi], 0               ; without any this is the command line: is there no memory
    mov     eax, 'GGUF'                 ; to hold it, the model has no end, either
    je      .no_appended
    cmp     [rdx], eax
    je      .model
.no_appended:
    xor     ecx, ecx
    bts     rcx, 32                     ; QEMU puts the first device at 4 GiB, others behind it
    cmp     [rcx], eax
    jne     .no_model
    push    rcx
    push    1
    pop     rsi                         ; two of them: the second has what is no whole page
.device:
    mov     dx, 0xa00                   ; their sizes: QEMU, docs/specs/acpi_mem_hotplug.txt
    mov     eax, esi
    out     dx, eax
    mov     dl, 0x0c
    in      eax, dx
    shl     rax, 32
    add     rcx, rax
    mov     dl, 0x08
    in      eax, dx
    add     rcx, rax
    dec     esi
    jns     .device
    pop     rdx
    jmp     .model
.no_model:
    xor     edx, edx                    ; file becomes negative, an error of mmap
.model:
    sub     rdx, image_size
    mov     [r11 + variable.file], rdx
    sub     rcx, rdx
    mov     [r11 + variable.file_size], rcx

; The heap: the largest free region of the memory map, above what has to stay.
; Holds    rax, rdx a region's beginning and size;  rsi, ecx the map and its end
    mov     esi, [rbp + 48]
    mov     ecx, [rbp + 44]
    add     ecx, esi
.region:
    mov     rax, [rsi + 4]
    mov     rdx, [rsi + 12]
    add     rdx, rax
    cmp     rax, rdi
    cmovb   rax, rdi
    or      ax, 4095
    inc     rax
    sub     rdx, rax
    cmp     rdx, [r11 + variable.heap_left]
    jle     .no_heap
    dec     dword [rsi + 20]            ; 1: free
    jnz     .no_heap
    mov     [r11 + variable.heap_left], rdx
    mov     [r11 + variable.heap], rax
.no_heap:
    lodsd
    add     esi, eax
    cmp     esi, ecx
    jb      .region

; How fast is the TSC?  Some 10 ms tell, by channel 0 of the PIT (Intel 8254): how many they were is
; looked up behind them, for an emulated core may have lost some to others.
    mov     al, 0x20                    ; the upper byte, mode 0: counts down
    out     0x43, al
    mov     al, 0xff
    out     0x40, al
    rdtsc
    xchg    eax, ecx
.pit:
    mov     al, 0                       ; latch the count
    out     0x43, al
    in      al, 0x40
    cmp     al, 0xff - 47
    ja      .pit
    not     al
    movzx   esi, al                     ; units that have passed
    rdtsc
    sub     eax, ecx
    cdq
    div     esi
    mov     [r11 + variable.unit], eax
    mov     edi, ARGV
    jmp     main

; Where another core wakes up, copied to DATA: real mode, CS = DATA / 16, DS = 0.
bits 16
wake_up:
    cs lgdt [gdtr_offset]
    inc     ax                          ; after INIT all registers are 0
    lmsw    ax                          ; PE: protected mode
    jmp     dword KERNEL_CODE_32:long_mode
gdtr:
    dw      23
    dd      gdt
wake_up_end:
gdtr_offset equ gdtr - wake_up
    times   IDT - DATA - ($ - wake_up) db 0
