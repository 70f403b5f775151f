; matmul_blocks - the frame of the matmul_* of quantised weights: row by row, columns by sixes.
; Each of them calls it, and its tile follows the call.  x86-64, AVX2.  Contract asm/kernels.h
; In       rdi m: Matmul*   esi begin   edx step   [rsp] tile, and behind it where to return to
; Clobbers rax rcx rdx rsi r8-r11 ymm0-ymm15; 0.6 KB of stack
; Holds    rbp y   r8 row   r10d columns left   [rsp] tile   [rsp + 8] step - 4
;
; A tile: the dot product of a row with a column; and for each block, where r12d is not 0, a call of
; .others, .unsigned or .any, which do the same for the other columns, with the weights as they are
; unpacked.
; In       rax row   rbx column   ecx n / 32   rax + rdx what to prefetch   all ymm but these: zero
;          r12d 64 * other columns   r13 bytes from column to column   r9 two sums for each, zero
; Out      rax, rbx ends   ymm0, ymm1 the dot product, in 16 partial sums; those of the others at r9
; Clobbers ecx r11 ymm4-ymm10 ymm12 ymm15
; Holds    ymm2 words of 1   ymm3 bytes of 1   ymm11 bytes of 16   ymm13 dwords of 0 below, 4 above
;          ymm14 bytes of 15
; Why so: Q4_0, one column, Zen 4.  GB/s of 2 threads for n 2048 / 16384, beside what a read probe
; had in the same minute; cycles for 32 weights in the cache:
;   two rows side by side          27.2 / 27.7, probe 35    3.4    50 bytes more for each type
;   one row                        27.6 / 23.8, probe 35    4.2
;   one row, prefetch twice as far 28.9 / 30.2, probe 37    4.2    here; Q8_0 has 33.2 / 32.9
;   two sums by turns                                       3.7    here, in Q4_0: 8 bytes
;   unpacking by a call            15.9 for 19.6 of one row 6.2    a call and its return: 4 cycles
; Six columns: where they are a multiple of 4 KB apart, L1 has room for 8 lines of them; twelve have
; 0.6 of the speed.  Sums in memory cost nothing: it is the arithmetic that takes the time.
; A row alone is a sequence too short for the CPU to foresee: prefetcht2 of every line, two tiles
; ahead.  Without it 6 (one thread, probe 30); where a step of 68 bytes left out lines 20.8 for
; 30.8; prefetcht0 12.3 for 19.0: what waits for so long does not fit into L1.
%include "matmul.inc"

COLUMNS    equ 6                ; at a time

global matmul_blocks, matmul_blocks.dot, matmul_blocks.others
global matmul_blocks.any, matmul_blocks.unsigned
section .text align=1
matmul_blocks:
    pop     rax                         ; tile
    push    rbx
    push    rbp
    push    r12
    push    r13
    mov     rbx, rsp
    and     rsp, -64                    ; Q4_0 turns from sum to sum by one bit of r9
    push    8 * (COLUMNS - 1)
    pop     rcx
.zero:
    push    0
    loop    .zero
    mov     r9, rsp
    push    rbx                         ; the stack as it was
    lea     ecx, [rdx - 4]
    push    rcx
    push    rax
    mov     esi, esi
    add     edx, edx                    ; prefetch what comes after the rows that come next
    imul    rdx, [rdi + M_W_STRIDE]
    mov     r13d, [rdi + M_N]
    shl     r13, 2                      ; columns are as far apart as those of floats
.rows:
    cmp     esi, [rdi + M_ROWS]
    jae     .done
    mov     rbp, [rdi + M_Y]
    lea     rbp, [rbp + rsi*4]
    mov     r8, [rdi + M_W_STRIDE]
    imul    r8, rsi
    add     r8, [rdi + M_W]
    mov     rbx, [rdi + M_X]
    mov     r10d, [rdi + M_COLS]
.columns:
    push    COLUMNS
    pop     r12
    cmp     r12d, r10d
    cmova   r12d, r10d
    sub     r10d, r12d
    dec     r12d                        ; the first one is the tile's
    shl     r12d, 6
    mov     rax, r8
    mov     ecx, [rdi + M_N]
    shr     ecx, 5
    push    rbx
    call    .dot
    pop     rbx
    and     r9, -64
.column:
    vmovss  [rbp], xmm0
    mov     ecx, [rdi + M_Y_STRIDE]
    lea     rbp, [rbp + rcx*4]
    add     rbx, r13
    sub     r12d, 64
    jb      .next
    lea     rcx, [r9 + r12]
    vmovaps ymm0, [rcx]
    vmovaps ymm1, [rcx + 32]
    vxorps  xmm2, xmm2, xmm2
    vmovaps [rcx], ymm2
    vmovaps [rcx + 32], ymm2
    call    .sum
    jmp     .column
.next:
    test    r10d, r10d
    jnz     .columns
    inc     esi
    test    sil, 3
    jnz     .rows
    add     esi, [rsp + 8]
    jmp     .rows
.done:
    pop     rax
    pop     rax
    pop     rsp
    pop     r13
    pop     r12
    pop     rbp
    pop     rbx
    ret

; The tile at [rsp + 16], with its constants and the horizontal sum.
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
    call    [rsp + 16]
.sum:
    vaddps  ymm0, ymm0, ymm1
    vextractf128 xmm1, ymm0, 1
    vaddps  xmm0, xmm0, xmm1
    vhaddps xmm0, xmm0, xmm0
    vhaddps xmm0, xmm0, xmm0
    ret

; A block of the other columns: .others with signed weights; .unsigned, which asks for CF = 0, with
; weights that are what they are, and a minimum; .any is .others for CF = 1, .unsigned for 0.
; In       rbx block of the tile's column   r9 r12d r13 as a tile   xmm15 scale   xmm12 minimum
;          ymm2 words of 1, in Q6_K the scales   ymm4 weights, from which .others and .any take ymm9
; Clobbers ymm4-ymm7 ymm15 but for xmm15
.others:
    stc
.any:
    vpsubb  ymm4, ymm4, ymm9
    vpabsb  ymm5, ymm4                  ; the unsigned side; the other one takes the signs
.unsigned:
    push    rcx
    push    rbx
    vbroadcastss ymm15, xmm15
    mov     ecx, r12d
    jc      .signed
.plain:
    add     rbx, r13
    vmovss  xmm6, [rbx + 4]
    vfmadd213ss xmm6, xmm12, [r9 + rcx - 32]
    vmovss  [r9 + rcx - 32], xmm6
    vpmaddubsw ymm7, ymm4, [rbx + 8]
    vpmaddwd ymm7, ymm2, ymm7
    vcvtdq2ps ymm7, ymm7
    vbroadcastss ymm6, [rbx]
    vmulps  ymm6, ymm15, ymm6
    vfmadd213ps ymm7, ymm6, [r9 + rcx - 64]
    vmovaps [r9 + rcx - 64], ymm7
    sub     ecx, 64
    jnz     .plain
.end:
    pop     rbx
    pop     rcx
    ret
.signed:
    add     rbx, r13
    vmovdqu ymm7, [rbx + 8]
    vpsignb ymm7, ymm7, ymm4
    vpmaddubsw ymm7, ymm5, ymm7
    vpmaddwd ymm7, ymm2, ymm7
    vcvtdq2ps ymm7, ymm7
    vbroadcastss ymm6, [rbx]
    vmulps  ymm6, ymm15, ymm6
    vfmadd213ps ymm7, ymm6, [r9 + rcx - 64]
    vmovaps [r9 + rcx - 64], ymm7
    sub     ecx, 64
    jnz     .signed
    jmp     .end
