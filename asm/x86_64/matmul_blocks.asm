; matmul_blocks - the frame of the matmul_* of quantised weights: rows by pairs, column by column.  AVX2.
; Each of them calls it, and the tile follows the call.  Contract asm/kernels.h
; In       rdi m: Matmul*   esi begin   edx step   [rsp] tile, and then where to return to
; Clobbers rax rcx rdx rsi r8-r11 ymm0-ymm15
; Holds    rbp y   r8 row stride   r9 the pair of rows   r10d columns left   r11d step
;
; A tile:  the dot products of two rows with a column.
; In       rax row   r8 row stride   rbx column   ecx n / 32   ymm11-ymm15 see blocks.inc
;          ymm0-ymm3 zero    rdx so that rdx + 2 * rax is what to prefetch, a line or less at a time
; Out      ymm0, ymm1 the two rows, in 8 partial sums each; xmm2, xmm3 more of them, in the lowest place
;          rax after the row, rbx after the column
; Clobbers ecx ymm4-ymm10
%include "matmul.inc"

global matmul_blocks, matmul_blocks.dot
section .text align=1
matmul_blocks:
    pop     rax                         ; tile
    push    rbx
    push    rbp
    push    rax
    mov     r11d, edx
    mov     r8, [rdi + M_W_STRIDE]
.rows:
    mov     ecx, [rdi + M_ROWS]
    cmp     esi, ecx
    jae     .done
    sub     ecx, 2
    cmp     esi, ecx
    cmovb   ecx, esi                    ; an odd last row: with the one before
    mov     rbp, [rdi + M_Y]
    lea     rbp, [rbp + rcx*4]
    mov     r9, r8
    imul    r9, rcx
    add     r9, [rdi + M_W]
    mov     rbx, [rdi + M_X]
    mov     r10d, [rdi + M_COLS]
.columns:
    mov     rax, r9
    mov     edx, r11d                   ; prefetch what comes after step rows
    imul    rdx, r8
    sub     rdx, rax
    mov     ecx, [rdi + M_N]
    shr     ecx, 5
    call    .dot
    vmovlps [rbp], xmm0
    mov     ecx, [rdi + M_ROWS]
    lea     rbp, [rbp + rcx*4]
    dec     r10d
    jnz     .columns
    btc     esi, 1
    jnc     .rows                       ; the other pair of four rows
    add     esi, r11d
    jmp     .rows
.done:
    pop     rax
    pop     rbp
    pop     rbx
    ret

; The tile at [rsp], on entry [rsp + 8], with its constants and with the horizontal sums.
; In       as a tile, but for ymm registers     Out  xmm0 the dot products with row 0, row 1
.dot:
    vzeroall
    vpcmpeqd ymm15, ymm15, ymm15
    vpabsw  ymm15, ymm15
    vpsrld  ymm13, ymm15, 14
    vperm2i128 ymm13, ymm13, ymm13, 0x08
    vpackuswb ymm12, ymm15, ymm15
    vpsllw  ymm11, ymm12, 4
    vpsubb  ymm14, ymm11, ymm12
    call    [rsp + 8]
    vaddps  ymm0, ymm0, ymm2
    vaddps  ymm1, ymm1, ymm3
    vhaddps ymm0, ymm0, ymm1
    vextractf128 xmm1, ymm0, 1
    vaddps  xmm0, xmm0, xmm1
    vhaddps xmm0, xmm0, xmm0
    ret
