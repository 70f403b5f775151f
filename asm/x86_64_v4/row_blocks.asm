; row_blocks - the frame of the row_* of quantised weights.  x86-64, AVX-512 F + BW.
; They jump here with the tile of their matmul_*, which makes integers of the
; row, the same in all lanes, and calls .part or .half.  Contract asm/kernels.h
; In       rdi y: f32[n]   rdx row   ecx n   xmm0 scale   eax tile, see matmul_blocks.asm
; Clobbers as matmul_blocks.asm
; Holds    rbx y, from part to part
%include "blocks.inc"

extern matmul_blocks.constants
global row_blocks, row_blocks.k
section .text align=1
row_blocks:
row_blocks.k:
    push    rbx
    push    rbp
    push    r12
    push    r14
    push    r15
    mov     rbp, rsp
    push    rax
    push    rax
    vmovss  [rbp + L_M], xmm0           ; scale
    push    rax
    push    rax
    push    .part
    push    .half
    lea     r12, [rbp + L_LAST]
    and     r12, -64
    lea     rsp, [r12 - SCRATCH]
    mov     rbx, rdi
    mov     ecx, ecx
    lea     rcx, [rdi + rcx*4]
    mov     [rbp + L_END], rcx
    xor     r8d, r8d                    ; 16 times the same row
    xor     r9d, r9d
    mov     r10, rdx
    mov     r11, rdx
    mov     r14, rdx
    mov     r15, rdx
    call    matmul_blocks.constants
    xor     eax, eax
.block:
    call    [rbp + L_TILE]
    cmp     rbx, [rbp + L_END]
    jb      .block
    mov     rsp, rbp
    pop     r15
    pop     r14
    pop     r12
    pop     rbp
    pop     rbx
    ret

.part:
    xor     edx, edx
    push    rbx
    call    .half
    pop     rbx
    vmovdqa xmm0, xmm4
    vmovdqa xmm10, xmm11
    mov     dl, 16
.half:
    vpsubb  xmm0, xmm0, xmm10           ; less what they are too large by
    vpmovsxbd zmm0, xmm0
    vcvtdq2ps zmm0, zmm0
    vbroadcastss zmm12, xmm8
    vbroadcastss zmm13, xmm9
    vfmadd213ps zmm0, zmm12, zmm13
    vmulps  zmm0, zmm0, [rbp + L_M] {1to16}
    vmovups [rbx + rdx*4], zmm0
    sub     rbx, -128
    ret
