; rows - bytes of each of 8 rows, side by side.  x86-64, AVX2 + F16C.
; Called by the tiles of quantised weights.  Read first: matmul_blocks.asm.
; In       rax offset in a row, moved behind what is read   r10 r11 groups of 4 rows
;          r8, r9 their stride, 3 times that
; Clobbers rcx rdx rsi ymm10 ymm11
; rows        16 bytes: 0-3 of each row to its dword of v0, 4-7 of v1, v2, v3
; rows.pair   32 bytes, to v0-v7
;   Both prefetch as many bytes, where the groups are that come next: from a row's offset 4 * rax
;   on, as if the 4 rows were one.
; rows.scales an f16, to v8
%include "blocks.inc"

; ROWS offset, reg of the first, the next, and so on.
%macro ROWS 5
    prefetcht2 [r10 + rcx + 4 * %1]
    prefetcht2 [r11 + rcx + 4 * %1]
    vmovdqu xmm%2, [rdx + %1]
    vmovdqu xmm%3, [rdx + r8 + %1]
    vmovdqu xmm%4, [rdx + r8*2 + %1]
    vmovdqu xmm%5, [rdx + r9 + %1]
    vinserti128 ymm%2, ymm%2, [rsi + %1], 1
    vinserti128 ymm%3, ymm%3, [rsi + r8 + %1], 1
    vinserti128 ymm%4, ymm%4, [rsi + r8*2 + %1], 1
    vinserti128 ymm%5, ymm%5, [rsi + r9 + %1], 1
    TRANSPOSE ymm%2, ymm%3, ymm%4, ymm%5
%endmacro

; PLACE - where these rows are, and what comes next.
%macro PLACE 0
    mov     rcx, [rbp + L_AHEAD]
    lea     rcx, [rcx + rax*4]
    lea     rdx, [r10 + rax]
    lea     rsi, [r11 + rax]
%endmacro

global rows, rows.pair, rows.scales
section .text align=1
rows.pair:
    PLACE
    prefetcht2 [r10 + rcx + 120]
    prefetcht2 [r11 + rcx + 120]
    ROWS    16, 4, 5, 6, 7
    add     rax, 16
    jmp     rows.first
rows:
    PLACE
    prefetcht2 [r10 + rcx + 56]
    prefetcht2 [r11 + rcx + 56]
.first:
    ROWS    0, 0, 1, 2, 3
    add     rax, 16
    ret

.scales:
    lea     rdx, [r10 + rax]
    vpinsrw xmm8, xmm8, [rdx], 0
    vpinsrw xmm8, xmm8, [rdx + r8], 1
    vpinsrw xmm8, xmm8, [rdx + r8*2], 2
    vpinsrw xmm8, xmm8, [rdx + r9], 3
    lea     rdx, [r11 + rax]
    vpinsrw xmm8, xmm8, [rdx], 4
    vpinsrw xmm8, xmm8, [rdx + r8], 5
    vpinsrw xmm8, xmm8, [rdx + r8*2], 6
    vpinsrw xmm8, xmm8, [rdx + r9], 7
    vcvtph2ps ymm8, xmm8
    add     rax, 2
    ret
