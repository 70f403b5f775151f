; rows - bytes of each of 16 rows, side by side.  x86-64, AVX-512 F + BW.
; Called by the tiles of quantised weights.  Read first: x86_64/matmul_blocks.asm, x86_64/rows.asm.
; In       rax offset in a row, moved behind what is read   r10 r11 r14 r15 groups of 4 rows
;          r8, r9 their stride, 3 times that
; Clobbers rcx rdx zmm10 zmm11
; rows        16 bytes: 0-3 of each row to its dword of v0, 4-7 of v1, v2, v3
; rows.pair   32 bytes, to v0-v7
;   Both prefetch as many bytes, where the groups are that come next: from a row's offset 4 * rax
;   on, as if the 4 rows were one.
; rows.scales an f16, to v8
%include "blocks.inc"

; LANE n, group, bytes - 16 or 32 bytes of the group's rows to lane n of v0-v3, and of v4-v7.
%macro LANE 3
    prefetcht2 [%2 + rcx]
%if %3 > 16
    prefetcht2 [%2 + rcx + 64]
%endif
    prefetcht2 [%2 + rcx + 4 * %3 - 8]
    lea     rdx, [%2 + rax]
%assign o 0
%rep %3 / 16
%assign a o / 4
%assign b o / 4 + 1
%assign c o / 4 + 2
%assign d o / 4 + 3
%if %1 == 0
    vmovdqu xmm%[a], [rdx + o]
    vmovdqu xmm%[b], [rdx + r8 + o]
    vmovdqu xmm%[c], [rdx + r8*2 + o]
    vmovdqu xmm%[d], [rdx + r9 + o]
%else
    vinserti32x4 zmm%[a], zmm%[a], [rdx + o], %1
    vinserti32x4 zmm%[b], zmm%[b], [rdx + r8 + o], %1
    vinserti32x4 zmm%[c], zmm%[c], [rdx + r8*2 + o], %1
    vinserti32x4 zmm%[d], zmm%[d], [rdx + r9 + o], %1
%endif
%assign o o + 16
%endrep
%endmacro

; LANES bytes - of all groups.
%macro LANES 1
    mov     rcx, [rbp + L_AHEAD]
    lea     rcx, [rcx + rax*4]
    LANE    0, r10, %1
    LANE    1, r11, %1
    LANE    2, r14, %1
    LANE    3, r15, %1
    TRANSPOSE v0, v1, v2, v3
    add     rax, %1
%endmacro

; SCALES_OF reg, group, group - the f16 of their rows.
%macro SCALES_OF 3
    lea     rdx, [%2 + rax]
    vpinsrw %1, %1, [rdx], 0
    vpinsrw %1, %1, [rdx + r8], 1
    vpinsrw %1, %1, [rdx + r8*2], 2
    vpinsrw %1, %1, [rdx + r9], 3
    lea     rdx, [%3 + rax]
    vpinsrw %1, %1, [rdx], 4
    vpinsrw %1, %1, [rdx + r8], 5
    vpinsrw %1, %1, [rdx + r8*2], 6
    vpinsrw %1, %1, [rdx + r9], 7
%endmacro

global rows, rows.pair, rows.scales
section .text align=1
rows:
    LANES   16
    ret
.pair:
    LANES   32
    TRANSPOSE v4, v5, v6, v7
    ret

.scales:
    SCALES_OF xmm8, r10, r11
    SCALES_OF xmm10, r14, r15
    vinserti128 ymm8, ymm8, xmm10, 1
    vcvtph2ps zmm8, ymm8
    add     rax, 2
    ret
