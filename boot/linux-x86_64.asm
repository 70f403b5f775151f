; linux-x86_64 - the headers of mote, and its door for Linux.
; The kernel's loader reads the headers, maps the file at 1 MiB, read and execute, and jumps to
; _start in 64-bit mode: rsp points to argc; argv, envp and the auxiliary vector follow (System V
; AMD64 psABI, 3.4.1).  The registers hold nothing of use, the direction flag is clear.
; Read next: main() in runtime/main.cpp.
default rel
extern image, image_size, main
%include "memory.inc"

section .header progbits alloc noexec nowrite align=64
elf_header:                             ; Elf64_Ehdr, System V gABI 4, chapter 4
    db 0x7f, "ELF", 2, 1, 1, 0          ; 64 bits, little-endian, version 1
    dq 0
    dw 2, 62                            ; ET_EXEC, EM_X86_64
    dd 1
    dq _start
    dq program_headers - elf_header
    dq 0                                ; no section headers
    dd 0
    dw 64, 56, 2                        ; size of this header, of a program header, their number
program_headers:                        ; its last 6 bytes tell of sections, which there are none of
    dd 1, 5                             ; PT_LOAD, read + execute
    dq 0, image                         ; from the file's first byte
%if BOOT == 0
    dq image                            ; physical address: nobody reads it,
%else
idtr:
    dw VECTORS * 16 - 1                 ; so here is the other door's interrupt table: its limit
    dd IDT                              ; and its address
    dw 0
%endif
    dq image_size, image_size
    dq 4096
    dd 0x6474e551, 6                    ; PT_GNU_STACK, read + write: or Linux before 5.8 makes the
                                        ; stack and every readable mapping executable.  Of this one
                                        ; Linux reads no more: its other 48 bytes are those below

%if BOOT
extern multiboot_start
global gdt, idtr
MULTIBOOT equ 0x1badb002                ; Multiboot 0.6.96, 3.1: in the first 8 KiB, at 4 n
FLAGS     equ 1 << 16 | 1 << 1 | 1 << 0 ; addresses below; memory map; modules at pages' beginnings
    align 4, db 0
multiboot_header:
    dd MULTIBOOT, FLAGS, -(MULTIBOOT + FLAGS)
    dd multiboot_header, image          ; where this lies, where the file's first byte is to lie
    dd 0                                ; load all of the file: a model may follow the image
gdt:                                    ; entry 0 is nobody's (Intel SDM 3A, 3.5.1): take these
    dd 0, multiboot_start               ; no .bss; the entry
    dq 0x00cf9b000000ffff               ; 8: code, 32 bits, flat
    dq 0x00af9b000000ffff               ; 16: code, 64 bits
%endif

section .text.start progbits alloc exec nowrite align=1
global _start
_start:
    pop     rcx                         ; argc
    mov     rdi, rsp                    ; argv
    lea     rsi, [rsp + 8 * rcx + 8]    ; envp, behind argv and its null
.environment:
    lodsq
    test    rax, rax
    jnz     .environment
.auxiliary:
    lodsq
    cmp     eax, 31                     ; AT_EXECFN, linux/auxvec.h: the name of this file
    lodsq
    jne     .auxiliary
    mov     [rdi], rax                  ; argv[0]
                                        ; on into main(argv): linker.ld.  It does not return.
