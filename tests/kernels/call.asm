; call - runs a kernel on a stack of its own, with every register full of rubbish.  x86-64 SysV.
; Called by call() in harness.cpp, which fills the struct Call of harness.h and judges what is left.
; In       rdi c: Call*      Out  c->kept, c->flags, c->result, c->rsp, c->mxcsr, c->x87
; The psABI (3.2.1) lets a kernel rely on: DF clear, an empty x87 stack, the control words.  It has to
; give back: rbx rbp r12-r15 rsp, both control words, DF clear, the x87 stack empty.
default rel

FN      equ 0                   ; offsets in struct Call, checked by a static_assert there
FLOATS  equ 16                  ; [2][4] f32
INTS    equ 48                  ; [6] u64
KEPT    equ 96                  ; [6] u64: rbx rbp r12 r13 r14 r15
FLAGS   equ 144
STACK   equ 152                 ; rsp at the call
RESULT  equ 160
RSP     equ 168                 ; rsp after the return
X87     equ 176                 ; [7] u32, as fnstenv writes them
MXCSR   equ 204
AVX     equ 208                 ; has this CPU AVX?

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
    cmp     dword [rax + AVX], 0
    je      .sse
%assign i 2
%rep 14
    vmovups ymm %+ i, [poison]
    %assign i i + 1
%endrep
    vmovups ymm0, [poison]
    vmovups ymm1, [poison]
.sse:
    movups  xmm0, [rax + FLOATS] ; leaves the upper half of ymm0 as it is
    movups  xmm1, [rax + FLOATS + 16]
    mov     rbx, [rax + KEPT]
    mov     rbp, [rax + KEPT + 8]
    mov     r12, [rax + KEPT + 16]
    mov     r13, [rax + KEPT + 24]
    mov     r14, [rax + KEPT + 32]
    mov     r15, [rax + KEPT + 40]
    mov     rdi, [rax + INTS]
    mov     rsi, [rax + INTS + 8]
    mov     rdx, [rax + INTS + 16]
    mov     rcx, [rax + INTS + 24]
    mov     r8, [rax + INTS + 32]
    mov     r9, [rax + INTS + 40]
    mov     r10, [rax + FN]
    mov     rsp, [rax + STACK]
    mov     r11, [poison]
    push    qword [rax + FLAGS]
    mov     rax, r11
    popfq                       ; may set the trap flag
    call    r10
    pushfq
    push    2                   ; bit 1 is always set; DF and TF clear
    popfq
    mov     r11, [current]
    mov     [r11 + RESULT], rax
    pop     qword [r11 + FLAGS]
    mov     [r11 + RSP], rsp
    mov     [r11 + KEPT], rbx
    mov     [r11 + KEPT + 8], rbp
    mov     [r11 + KEPT + 16], r12
    mov     [r11 + KEPT + 24], r13
    mov     [r11 + KEPT + 32], r14
    mov     [r11 + KEPT + 40], r15
    fnstenv [r11 + X87]
    fninit
    stmxcsr [r11 + MXCSR]
    ldmxcsr [default_mxcsr]
    cmp     dword [r11 + AVX], 0
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
align 4
poison:        times 4 dq 0xfffabadffffabadf ; as f32 and f64: NaN
default_mxcsr: dd 0x1f80        ; psABI 3.2.1: round to nearest, no FTZ, all exceptions masked

section .bss
current:    resq 1
caller_rsp: resq 1

section .note.GNU-stack noalloc noexec nowrite progbits
