; matmul - the frame of matmul_f32, matmul_f16, matmul_bf16: rows by fours, columns by twos.  AVX2.
; Called by the matmul_* stubs, whose tile stands behind the call.  Returns to their caller.
; Contract asm/kernels.h
; In       rdi m: Matmul*   esi begin   edx step   the return address: the tile, see matmul.inc
; Clobbers rax rcx rdx rsi r8-r11 ymm0-ymm10
; Holds    rbx, rax x columns, ends   rdx y   ebp columns left   r8 row stride   r9 3 * row stride
; An odd last column is computed twice: it is its own twin.  Rows that are no multiple of 4 end
; in a tile that reaches back over rows that are already done.
%include "matmul.inc"

global matmul
section .text align=1
matmul:
    push    rbx
    push    rbp
    mov     r8, [rdi + M_W_STRIDE]
    lea     r9, [r8 + r8*2]
.rows:
    mov     eax, [rdi + M_ROWS]
    cmp     esi, eax
    jb      .some
    pop     rbp
    pop     rbx
    pop     rax                         ; not to the tile
    ret
.some:
    push    rdx
    sub     eax, 4
    cmp     esi, eax
    cmova   esi, eax                    ; the last tile: no row past the end
    mov     rbx, [rdi + M_X]
    mov     rdx, [rdi + M_Y]
    lea     rdx, [rdx + rsi*4]
    mov     ebp, [rdi + M_COLS]
.columns:
    mov     ecx, [rdi + M_N]
    lea     rbx, [rbx + rcx*4]          ; ends of two columns
    lea     rax, [rbx + rcx*4]
    neg     rcx
    dec     ebp
    cmovz   rax, rbx                    ; an odd last one is its own twin
    mov     r10d, esi
    imul    r10, r8
    add     r10, [rdi + M_W]
    mov     r11d, [rsp]                 ; step
    imul    r11, r8
    add     r11, r10
    lea     r11, [r11 + r8*4]           ; end of the tile to come
    vzeroall
    call    [rsp + 24]                  ; the tile
    vhaddps ymm0, ymm0, ymm1
    vhaddps ymm2, ymm2, ymm3
    vhaddps ymm0, ymm0, ymm2            ; column 0: 4 rows, in two halves each
    vhaddps ymm4, ymm4, ymm5
    vhaddps ymm6, ymm6, ymm7
    vhaddps ymm4, ymm4, ymm6            ; column 1
    vperm2f128 ymm1, ymm0, ymm4, 0x20
    vperm2f128 ymm0, ymm0, ymm4, 0x31
    vaddps  ymm0, ymm0, ymm1            ; column 0 in the lower half, column 1 in the upper
    mov     ecx, [rdi + M_Y_STRIDE]
    vmovups [rdx], xmm0
    lea     rdx, [rdx + rcx*4]
    test    ebp, ebp
    jz      .next
    vextractf128 [rdx], ymm0, 1
    lea     rdx, [rdx + rcx*4]
    mov     rbx, rax
    dec     ebp
    jnz     .columns
.next:
    pop     rdx
    add     esi, edx
    jmp     .rows
