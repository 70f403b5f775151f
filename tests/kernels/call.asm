; call - runs a kernel on a stack of its own, with every register full of rubbish.  x86-64 SysV.
; Called by call() in harness.cpp, which fills the struct Call of harness.h and judges what is left.
; In       rdi c: Call*      Out  c->kept, c->flags, c->result, c->rsp, c->mxcsr, c->x87
; A kernel may rely on (psABI 3.2.1): DF clear, an empty x87 stack, the default control words.
; It has to give back: the same, and rbx rbp r12-r15 rsp.
default rel

C_FN      equ 0                 ; offsets in struct Call, checked by a static_assert there
C_FLOATS  equ 8                 ; [2][4] f32
C_INTS    equ 40                ; [6] u64
C_KEPT    equ 88                ; [6] u64: rbx rbp r12 r13 r14 r15
C_FLAGS   equ 136
C_STACK   equ 144               ; rsp at the call
C_RESULT  equ 152
C_RSP     equ 160               ; rsp after the return
C_X87     equ 168               ; [7] u32, as fnstenv writes them
C_MXCSR   equ 196
C_VECTORS equ 200               ; 0 SSE, 1 AVX, 2 AVX-512

global call_kernel
section .text
call_kernel:
    push    rbx
    push    rbp
    push    r12
    push    r13
    push    r14
    push    r15
    mov     [current], rdi
    mov     [caller_rsp], rsp
    mov     rax, rdi
    fninit                      ; a kernel that faulted may have left anything
    cmp     dword [rax + C_VECTORS], 1
    jb      .sse
    je      .avx
    mov     ecx, 0x5555
%assign i 1
%rep 7
    kmovw   k %+ i, ecx
    %assign i i + 1
%endrep
%assign i 0
%rep 32
    vbroadcastsd zmm %+ i, [poison]
    %assign i i + 1
%endrep
    jmp     .sse
.avx:
%assign i 0
%rep 16
    vbroadcastsd ymm %+ i, [poison]
    %assign i i + 1
%endrep
.sse:                           ; SSE leaves the upper parts as they are
    movups  xmm0, [rax + C_FLOATS]
    movups  xmm1, [rax + C_FLOATS + 16]
    mov     rbx, [rax + C_KEPT]
    mov     rbp, [rax + C_KEPT + 8]
    mov     r12, [rax + C_KEPT + 16]
    mov     r13, [rax + C_KEPT + 24]
    mov     r14, [rax + C_KEPT + 32]
    mov     r15, [rax + C_KEPT + 40]
    mov     rdi, [rax + C_INTS]
    mov     rsi, [rax + C_INTS + 8]
    mov     rdx, [rax + C_INTS + 16]
    mov     rcx, [rax + C_INTS + 24]
    mov     r8, [rax + C_INTS + 32]
    mov     r9, [rax + C_INTS + 40]
    mov     r10, [rax + C_FN]
    mov     rsp, [rax + C_STACK]
    mov     r11, [poison]
    push    qword [rax + C_FLAGS]
    mov     rax, r11
    popfq                       ; may set the trap flag
    call    r10
    pushfq
    push    2                   ; bit 1 is always set; DF and TF clear
    popfq
    mov     r11, [current]
    mov     [r11 + C_RESULT], rax
    pop     qword [r11 + C_FLAGS]
    mov     [r11 + C_RSP], rsp
    mov     [r11 + C_KEPT], rbx
    mov     [r11 + C_KEPT + 8], rbp
    mov     [r11 + C_KEPT + 16], r12
    mov     [r11 + C_KEPT + 24], r13
    mov     [r11 + C_KEPT + 32], r14
    mov     [r11 + C_KEPT + 40], r15
    fnstenv [r11 + C_X87]
    fninit
    stmxcsr [r11 + C_MXCSR]
    ldmxcsr [default_mxcsr]
    cmp     dword [r11 + C_VECTORS], 0
    je      .done
    vzeroupper                  ; kernels need not; the tests' own SSE code would crawl
.done:
    mov     rsp, [caller_rsp]
    pop     r15
    pop     r14
    pop     r13
    pop     r12
    pop     rbp
    pop     rbx
    ret

section .rodata
align 8
poison:        dq 0xfffabadffffabadf ; NaN, as f32 and as f64
default_mxcsr: dd 0x1f80        ; psABI 3.2.1: round to nearest, no FTZ, all exceptions masked

section .bss
current:    resq 1
caller_rsp: resq 1

section .note.GNU-stack noalloc noexec nowrite progbits
