; matmul_blocks - the frame of the matmul_* of quantised weights: row by row, column by column.
; Each of them calls it, and its tile follows the call.  x86-64, AVX2.  Contract asm/kernels.h
; In       rdi m: Matmul*   esi begin   edx step   [rsp] tile, and behind it where to return to
; Clobbers rax rcx rdx rsi r8-r11 ymm0-ymm15
; Holds    rbp y   r8 row   r9d columns left   r10d step - 4
;
; A tile: the dot product of a row with a column.
; In       rax row   rbx column   ecx n / 32   rax + rdx what to prefetch   all ymm but these: zero
; Out      rax, rbx ends   ymm0, ymm1 the dot product, in 16 partial sums
; Clobbers ecx r11 ymm4-ymm10 ymm12 ymm15
; Holds    ymm2 words of 1   ymm3 bytes of 1   ymm11 bytes of 16   ymm13 dwords of 0 below, 4 above
;          ymm14 bytes of 15
; Why so: Q4_0, one column, Zen 4.  GB/s of 2 threads for n 2048 / 16384, beside what a read probe had
; in the same minute; cycles for 32 weights in the cache:
;   two rows side by side          27.2 / 27.7, probe 35    3.4    50 bytes more for each type
;   one row                        27.6 / 23.8, probe 35    4.2
;   one row, prefetch twice as far 28.9 / 30.2, probe 37    4.2    here; Q8_0 has 33.2 / 32.9
;   two sums by turns                                       3.7    here, in Q4_0: 8 bytes
;   unpacking by a call            15.9 for 19.6 of one row 6.2    a call and its return: 4 cycles
; A row alone is a sequence too short for the CPU to foresee: prefetcht2 of every line, two tiles
; ahead.  Without it 6 (one thread, probe 30); where a step of 68 bytes left out lines 20.8 for 30.8;
; prefetcht0 12.3 for 19.0: what waits for so long does not fit into L1.
%include "matmul.inc"

global matmul_blocks, matmul_blocks.dot
section .text align=1
matmul_blocks:
    pop     rax                         ; tile
    push    rbx
    push    rbp
    push    rax
    mov     esi, esi
    lea     r10d, [rdx - 4]
    add     edx, edx                    ; prefetch what comes after the rows that come next
    imul    rdx, [rdi + M_W_STRIDE]
.rows:
    cmp     esi, [rdi + M_ROWS]
    jae     .done
    mov     rbp, [rdi + M_Y]
    lea     rbp, [rbp + rsi*4]
    mov     r8, [rdi + M_W_STRIDE]
    imul    r8, rsi
    add     r8, [rdi + M_W]
    mov     rbx, [rdi + M_X]
    mov     r9d, [rdi + M_COLS]
.columns:
    mov     rax, r8
    mov     ecx, [rdi + M_N]
    shr     ecx, 5
    call    .dot
    vmovss  [rbp], xmm0
    imul    ecx, [rdi + M_N], 128 - 40
    shr     ecx, 5
    add     rbx, rcx                    ; the next column: as far as one of floats
    mov     ecx, [rdi + M_Y_STRIDE]
    lea     rbp, [rbp + rcx*4]
    dec     r9d
    jnz     .columns
    inc     esi
    test    sil, 3
    jnz     .rows
    add     esi, r10d
    jmp     .rows
.done:
    pop     rax
    pop     rbp
    pop     rbx
    ret

; The tile at [rsp + 8], with its constants and the horizontal sum.
; In       rax rbx ecx rdx as a tile     Out  xmm0 the dot product
.dot:
    vzeroall
    vpcmpeqd ymm2, ymm2, ymm2
    vpabsw  ymm2, ymm2
    vpsrld  ymm13, ymm2, 14
    vperm2i128 ymm13, ymm13, ymm13, 0x08
    vpackuswb ymm3, ymm2, ymm2
    vpsllw  ymm11, ymm3, 4
    vpsubb  ymm14, ymm11, ymm3
    call    [rsp + 8]
    vaddps  ymm0, ymm0, ymm1
    vextractf128 xmm1, ymm0, 1
    vaddps  xmm0, xmm0, xmm1
    vhaddps xmm0, xmm0, xmm0
    vhaddps xmm0, xmm0, xmm0
    ret
