; matmul - the frame of matmul_f32, _f16, _bf16: rows by fours, columns by threes.  x86-64, AVX2.
; Called by the matmul_* stubs, whose tile stands behind the call.  Returns to their caller.
; Contract asm/kernels.h
; In       rdi m: Matmul*   esi begin   edx end   [rsp] tile, see matmul.inc   [rsp + 8] where to
;          return to
; Clobbers rax rcx rdx rsi r8-r11 ymm0-ymm15
; Holds    rbx, rax, rbp ends of x columns   rdx y   r12d columns left   r8 row stride
;          r9 3 * row stride
; Columns that are missing to the last three are twins of the last one: in decode, too, where memory
; leaves the time for it.  Rows that are no multiple of 4 end in a tile that reaches back over rows
; that are already done.
%include "matmul.inc"
global matmul
section .text align=1
matmul:
    pop     rax
    push    rbx
    push    rbp
    push    r12
    push    rax
    mov     r8, [rdi + M_W_STRIDE]
    lea     r9, [r8 + r8*2]
    cmp     esi, edx
    jae     .done
    sub     edx, 4                      ; the last tile's first row
.rows:
    push    rdx
    cmp     esi, edx
    cmovg   esi, edx                    ; no row past the end
    mov     rbx, [rdi + M_X]
    mov     rdx, [rdi + M_Y]
    lea     rdx, [rdx + rsi*4]
    mov     r12d, [rdi + M_COLS]
.columns:
    mov     ecx, [rdi + M_N]
    lea     rbx, [rbx + rcx*4]          ; ends of three columns
    lea     rax, [rbx + rcx*4]
    lea     rbp, [rax + rcx*4]
    neg     rcx
    cmp     r12d, 2
    cmovb   rax, rbx
    cmovbe  rbp, rax                    ; what is missing is the last one's twin
    mov     r10d, esi
    imul    r10, r8
    add     r10, [rdi + M_W]
    lea     r11, [r10 + r8*8]           ; end of the tile to come
    vzeroall
    call    [rsp + 8]                   ; the tile
    mov     rbx, rbp
    push    3
    pop     rax                         ; columns of this tile
.column:
    vhaddps ymm0, ymm0, ymm1
    vhaddps ymm2, ymm2, ymm3
    vhaddps ymm0, ymm0, ymm2            ; 4 rows, in two halves each
    vextractf128 xmm1, ymm0, 1
    vaddps  xmm0, xmm0, xmm1
    vmovups [rdx], xmm0
    mov     ecx, [rdi + M_Y_STRIDE]
    lea     rdx, [rdx + rcx*4]
    vmovaps ymm0, ymm4
    vmovaps ymm1, ymm5
    vmovaps ymm2, ymm6
    vmovaps ymm3, ymm7
    vmovaps ymm4, ymm8
    vmovaps ymm5, ymm9
    vmovaps ymm6, ymm10
    vmovaps ymm7, ymm11
    dec     r12d
    jz      .next
    dec     eax
    jnz     .column
    jmp     .columns
.next:
    pop     rdx
    cmp     esi, edx
    lea     esi, [rsi + 4]
    jb      .rows
.done:
    pop     rax
    pop     r12
    pop     rbp
    pop     rbx
    ret
