; syscalls-x86_64 - bare metal's answers to the calls of runtime/sys.h, and to exceptions.
; `syscall` jumps here, for LSTAR says so: 64-bit mode, ring 0, the caller's stack; rax the number,
; rdi rsi rdx r10 the arguments, rcx the caller's rip.  We are in ring 0 already: ret goes back.
; Out      rax      Clobbers rcx r11      Holds    r11 VARIABLES
; Every call is a link of the chain below, which ends with those that do nothing and return 0.
%include "memory.inc"
default rel
global syscalls, faults

COM1_LSR  equ 0x3fd                     ; line status register: PC16550D, table II
COM1_DATA equ 0x3f8

section .text align=1
syscalls:
    push    rcx
    push    rdx
    push    rsi
    push    rdi
    mov     r11d, VARIABLES
    call    .read
    pop     rdi
    pop     rsi
    pop     rdx
    ret

; read(_, buffer, _): a line as a terminal edits it; all of it, even if less was asked for: that the
; buffer ends is known here.
.read:
    test    al, al
    jnz     .write
    mov     rdi, rsi
.key:
    mov     dx, COM1_LSR
    in      al, dx
    test    al, 1
    jz      .key
    mov     dl, COM1_DATA & 0xff
    in      al, dx
    cmp     al, 4                       ; Ctrl-D
    je      .line
    cmp     al, 8                       ; backspace, of one terminal
    je      .erase
    cmp     al, 127                     ; or of another
    je      .erase
    cmp     al, 13
    jne     .store
    mov     al, 10
.store:
    mov     rcx, rdi
    sub     rcx, rbx                    ; the register that keeps the Mote, which text() follows:
    shr     rcx, 24                     ; [MAX_TEXT], runtime/mote.h
    jnz     .no_memory
    stosb
.echo:
    call    put
    cmp     al, 10
    jne     .key
.line:
    sub     rdi, rsi
    xchg    rax, rdi
    ret
.erase:
    cmp     rdi, rsi
    je      .key
    dec     rdi
    cmp     byte [rdi], -64             ; UTF-8: a byte that continues a character
    jl      .erase
    mov     al, 8
    call    put
    mov     al, ' '
    call    put
    mov     al, 8
    jmp     .echo

; write(_, text, n)
.write:
    dec     eax
    jnz     .lseek
    mov     rcx, rdx
    push    rdx
    jrcxz   .written
.byte:
    lodsb
    call    put
    loop    .byte
.written:
    pop     rax
    ret

; lseek(_, 0, SEEK_END)
.lseek:
    cmp     al, 8 - 1
    jne     .mmap
    mov     rax, [r11 + variable.file_size]
    ret

; mmap(_, n, _, flags): the model's file, or fresh pages
.mmap:
    cmp     al, 9 - 1
    jne     .clone
    mov     rax, [r11 + variable.file]
    test    r10b, 0x20                  ; MAP_ANONYMOUS
    jz      .mapped
    or      si, 4095
    inc     rsi
    sub     [r11 + variable.heap_left], rsi
    jb      .no_memory
    mov     rdi, [r11 + variable.heap]
    push    rdi
    mov     rcx, rsi
    shr     rcx, 3
    xor     eax, eax
    rep stosq
    mov     [r11 + variable.heap], rdi
    pop     rax
.mapped:
    ret
.no_memory:
    push    -12                         ; ENOMEM
    pop     rax
    ret

; clone(_, stack, number): offers the thread to the other cores, of which those that sleep wake up.
.clone:
    cmp     al, 56 - 1
    jne     .affinity
    xchg    rsp, rsi
    push    rcx                         ; what it will find in rip, rbx and rdx
    push    rbx
    push    rdx
    xchg    rsp, rsi
    mov     [r11 + variable.mailbox], rsi
    mov     eax, LAPIC_ICR
    mov     dword [rax], STARTUP | DATA >> 12
    mov     ecx, 1 << 18                ; some 10 ms
.wait:
    pause
    cmp     qword [r11 + variable.mailbox], 0
    loopne  .wait
    xor     eax, eax
    xchg    rax, [r11 + variable.mailbox]
    neg     rax                         ; was it still there, and now is not?
    sbb     eax, eax                    ; -1, an error,
    or      al, 1                       ; or else 1
    ret

; sched_getaffinity(_, _, mask): as many as clone will find
.affinity:
    cmp     al, 204 - 1
    jne     .clock
    or      qword [rdx], -1
    mov     al, 8
    ret

; clock_gettime(_, time): in ns alone
.clock:
    cmp     al, 228 - 1
    jne     .exit
    rdtsc
    shl     rdx, 32
    or      rax, rdx
    mov     ecx, UNIT_NS
    mul     rcx
    div     qword [r11 + variable.unit]
    and     qword [rsi], 0
    mov     [rsi + 8], rax
    ret

; exit_group(status); all other calls do nothing
.exit:
    cmp     al, 231 - 1
    mov     al, 0
    jne     .mapped

stop:                                   ; edi status
    mov     eax, edi
    out     0xf4, eax                   ; isa-debug-exit, if it is there
    test    eax, eax
    jnz     .halt                       ; let a failure be read
    mov     dx, 0x604                   ; PM1a_CNT where QEMU has it,
    mov     ax, 1 << 13                 ; SLP_EN, type 0: off
    out     dx, ax
.halt:
    hlt
    jmp     .halt

; Writes al, which it keeps.    Clobbers dx
put:
    mov     dx, COM1_LSR
    push    rax
.busy:
    in      al, dx
    test    al, 1 << 5
    jz      .busy
    pop     rax
    mov     dl, COM1_DATA & 0xff
    out     dx, al
    ret

; An exception of vector n jumps to the n-th byte from here: interrupts off, the same stack, on it
; an error code or none, rip, CS, RFLAGS, RSP, SS.  Each push of rsp pushes the address above it,
; which nothing else does: their number is VECTORS - n.
faults:
    times VECTORS push rsp
    mov     ecx, VECTORS + 1
.count:
    dec     ecx
    pop     rax
    cmp     rax, rsp
    je      .count
    mov     edx, 0x27d00                ; those with an error code: Intel SDM 3A, table 6-1
    bt      edx, ecx
    jnc     .rip
    pop     rax
.rip:
    mov     rdx, cr2                    ; the address, of a page fault
    push    rdx
    push    rax
    ror     rcx, 8
    push    rcx
    mov     esi, message
.text:
    lodsb
    test    al, al
    js      .value
    call    put
    cmp     al, 10
    jne     .text
    push    3
    pop     rdi
    jmp     stop
.value:
    neg     al
    movzx   ecx, al                     ; digits
    pop     rdi
.digit:
    rol     rdi, 4
    mov     eax, edi
    and     al, 15
    add     al, '0'
    cmp     al, '9'
    jbe     .decimal
    add     al, 'a' - '9' - 1
.decimal:
    call    put
    loop    .digit
    jmp     .text
; A negative byte stands for as many digits of the next value.
message: db "mote: exception ", -2, " at ", -16, ", address ", -16, 10
