; blocks - what the tiles of quantised weights call, to take a block apart.
; x86-64, AVX2 or AVX-512 F + BW: see vector.inc.
; Read first: matmul_blocks.asm, rows.asm, dots.asm.
%include "blocks.inc"

extern rows
global blocks.nibbles, blocks.mask, blocks.keep, blocks.take
global blocks.upper, blocks.high
section .text align=1
blocks:
; 16 bytes of each row are 32 weights: the lower halves of bytes come first.
; Out v0-v7      Clobbers rcx rdx v10 v11
.nibbles:
    call    rows
    vpsrlw  v4, v0, 4
    vpsrlw  v5, v1, 4
    vpsrlw  v6, v2, 4
    vpsrlw  v7, v3, 4
.mask:                                  ; lower halves of the bytes of v0-v7
    EIGHT   vpand, v13
    ret
.high:                                  ; upper halves
    EIGHT   vpsrlw, 4
    jmp     .mask

; v0-v7 to memory, and from there: [rdx - 128].
.keep:
%assign i 0
%rep 8
    vmovaps [rdx + i * VBYTES - 128], v%[i]
%assign i i + 1
%endrep
    ret
.take:
%assign i 0
%rep 8
    vmovaps v%[i], [rdx + i * VBYTES - 128]
%assign i i + 1
%endrep
    ret

; Upper bits of v0-v7, from UPPER: (bits >> xmm12 & v9) << 4.  Clobbers v10
.upper:
    lea     rdx, [r12 + UPPER + 128]
%assign i 0
%rep 8
    vmovaps v10, [rdx + i * VBYTES - 128]
    vpsrlw  v10, v10, xmm12
    vpand   v10, v10, v9
    vpsllw  v10, v10, 4
    vpor    v%[i], v%[i], v10
%assign i i + 1
%endrep
    ret
