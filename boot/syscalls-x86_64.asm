; syscalls-x86_64 - bare metal's answers to the calls of runtime/sys.h, and to exceptions.
; `syscall` jumps here, the register LSTAR says so: long mode, ring 0, the caller's stack, rax the
; call's number, arguments in rdi rsi rdx r10, rcx the caller's rip.  ret is enough to go back.
; Out      rax      Clobbers rcx r11
; Holds    r11 DATA
%include "memory.inc"
default rel

LAPIC_ICR equ 0xfee00300
COM1      equ 0x3f8                     ; National Semiconductor 16550
COM1_LSR  equ COM1 + 5

section .text align=1
global syscalls, faults
syscalls:
    push    rcx
    push    rdx
    push    rsi
    push    rdi
    mov     r11d, DATA
    call    answer
    pop     rdi
    pop     rsi
    pop     rdx
    ret

answer:
    test    al, al                      ; read(_, buffer, _): a line, however long
    jnz     .write
    mov     rdi, rsi
.key:
    mov     edx, COM1_LSR
    in      al, dx
    test    al, 1
    jz      .key
    mov     dl, COM1 & 0xff
    in      al, dx
    cmp     al, 4                       ; Ctrl-D
    je      .line
    cmp     al, 8
    je      .backspace
    cmp     al, 127
    je      .backspace
    cmp     al, 13
    jne     .other
    mov     al, 10
.other:
    stosb
    call    put
    cmp     al, 10
    jne     .key
.line:
    sub     rdi, rsi
    xchg    rax, rdi
    ret
.backspace:
    cmp     rdi, rsi
    je      .key
    dec     rdi
    mov     al, 8
    call    put
    mov     al, ' '
    call    put
    mov     al, 8
    call    put
    jmp     .key

.write:                                 ; write(_, from, n)
    dec     eax
    jnz     .lseek
    mov     rcx, rdx
    jrcxz   .written
.byte:
    lodsb
    call    put
    loop    .byte
.written:
    mov     rax, [rsp + 24]
    ret

.lseek:
    cmp     al, 8 - 1
    jne     .mmap
    mov     rax, [r11 + variable.file_size]
    ret

.mmap:                                  ; mmap(_, n, _, flags)
    cmp     al, 9 - 1
    jne     .clone
    mov     rax, [r11 + variable.file]
    test    r10b, 0x20                  ; MAP_ANONYMOUS
    jz      .mapped
    mov     rdi, [r11 + variable.heap]
    or      si, 4095
    inc     rsi
    mov     rcx, [r11 + variable.heap_end]
    sub     rcx, rdi
    push    -12                         ; ENOMEM
    pop     rax
    cmp     rcx, rsi
    jb      .mapped
    push    rdi
    mov     rcx, rsi
    shr     rcx, 3
    xor     eax, eax
    rep stosq
    mov     [r11 + variable.heap], rdi
    pop     rax
.mapped:
    ret

.clone:                                 ; clone(_, stack)
    cmp     al, 56 - 1
    jne     .affinity
    xchg    rsp, rsi
    push    rcx
    push    rbx
    push    rdx
    xchg    rsp, rsi
    mov     [r11 + variable.mailbox], rsi
    mov     eax, LAPIC_ICR
    mov     dword [rax], 0xc4600 | DATA >> 12  ; SIPI
    mov     ecx, 1 << 18
.wait:
    pause
    cmp     qword [r11 + variable.mailbox], 0
    loopne  .wait
    xor     eax, eax
    xchg    rax, [r11 + variable.mailbox]
    neg     rax
    sbb     eax, eax
    or      al, 1
    ret

.affinity:                              ; sched_getaffinity(_, _, mask)
    cmp     al, 204 - 1
    jne     .clock
    or      qword [rdx], -1
    mov     eax, 8
    ret

.clock:                                 ; clock_gettime(_, time)
    cmp     al, 228 - 1
    jne     .exit
    rdtsc
    shl     rdx, 32
    or      rax, rdx
    mov     ecx, PERIOD * 1000000000 / 1193182
    mul     rcx
    div     qword [r11 + variable.period]
    and     qword [rsi], 0
    mov     [rsi + 8], rax
    ret

.exit:                                  ; exit_group(status)
    cmp     al, 231 - 1
    je      stop
    xor     eax, eax
    ret

stop:
    mov     eax, edi
    out     0xf4, eax
    test    eax, eax
    jnz     .halt
    mov     dx, 0x604
    mov     ax, 0x2000
    out     dx, ax
.halt:
    hlt
    jmp     .halt

put:                                    ; al, keeps it
    push    rax
    mov     edx, COM1_LSR
.busy:
    in      al, dx
    test    al, 1 << 5
    jz      .busy
    pop     rax
    mov     dl, COM1 & 0xff
    out     dx, al
    ret

; An exception n jumps into the sled at n.
faults:
    times 32 push rsp
    mov     ecx, 33
.count:
    dec     ecx
    pop     rax
    cmp     rax, rsp
    je      .count
    mov     edx, 0x227d00               ; these have an error code
    bt      edx, ecx
    jnc     .rip
    pop     rax
.rip:
    mov     rdx, cr2
    push    rdx
    push    rax
    push    rcx
    mov     esi, message
.text:
    lodsb
    test    al, al
    jz      .value
    call    put
    cmp     al, 10
    jne     .text
    push    3
    pop     rdi
    jmp     stop
.value:
    pop     rdi
    mov     cl, 16
.digit:
    rol     rdi, 4
    mov     eax, edi
    and     al, 15
    add     al, '0'
    cmp     al, '9'
    jbe     .decimal
    add     al, 'a' - '0' - 10
.decimal:
    call    put
    loop    .digit
    jmp     .text
message: db "mote: exception ", 0, " at ", 0, ", address ", 0, 10
