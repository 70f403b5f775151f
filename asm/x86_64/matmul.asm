; matmul - the frame of matmul_f32, matmul_f16, matmul_bf16: rows by fours, columns by twos.  AVX2.
; Called by the matmul_* stubs, which say what a tile is.  Contract asm/kernels.h
; In       rdi m: Matmul*   esi begin   edx end   rax tile, see matmul.inc
; Clobbers rax rcx rdx rsi r8-r11 ymm0-ymm10
; An odd last column is computed twice: its twin has stride 0.  Rows that are no multiple of 4 end
; in a tile that reaches back over rows that are already done.
default rel
%include "matmul.inc"

global matmul
section .text
matmul:
    push    rbx
    push    rbp
    push    r12
    push    r13
    push    r14
    mov     rbx, rax                    ; the tile
    mov     r8, [rdi + M_W_STRIDE]
    lea     r9, [r8 + r8*2]
    jmp     .more_rows
.rows:
    mov     eax, [rdi + M_ROWS]
    sub     eax, 4
    cmp     esi, eax
    cmova   esi, eax                    ; the last tile: no row past the end
    mov     r12, r8
    imul    r12, rsi
    add     r12, [rdi + M_W]            ; weight row
    mov     rbp, [rdi + M_X]            ; activation column
    mov     r13, [rdi + M_Y]
    lea     r13, [r13 + rsi*4]          ; result
    mov     r14d, [rdi + M_COLS]        ; columns left
.columns:
    xor     eax, eax
    cmp     r14d, 1
    cmovne  rax, [rdi + M_X_STRIDE]
    mov     ecx, [rdi + M_N]
    mov     r10, r12
    mov     r11, rbp
    vzeroall
    call    rbx
    vhaddps ymm4, ymm4, ymm5
    vhaddps ymm6, ymm6, ymm7
    vhaddps ymm4, ymm4, ymm6            ; 4 rows of column 1, in two halves each
    vextractf128 xmm5, ymm4, 1
    vaddps  xmm4, xmm4, xmm5
    vhaddps ymm0, ymm0, ymm1
    vhaddps ymm2, ymm2, ymm3
    vhaddps ymm0, ymm0, ymm2
    vextractf128 xmm1, ymm0, 1
    vaddps  xmm0, xmm0, xmm1
    vmovups [r13], xmm0
    sub     r14d, 1
    jz      .more
    add     r13, [rdi + M_Y_STRIDE]
    vmovups [r13], xmm4
    add     r13, [rdi + M_Y_STRIDE]
    lea     rbp, [rbp + rax*2]
    sub     r14d, 1
    jnz     .columns
.more:
    add     esi, 4
.more_rows:
    cmp     esi, edx
    jb      .rows
    pop     r14
    pop     r13
    pop     r12
    pop     rbp
    pop     rbx
    ret
