; blocks - what the tiles of quantised weights call, to take a block apart.
; x86-64, AVX2 or AVX-512 F + BW: see vector.inc.
; Read first: matmul_blocks.asm, rows.asm, dots.asm.
%include "blocks.inc"

extern rows
global blocks.nibbles, blocks.mask, blocks.high, blocks.keep, blocks.take
section .text align=1
blocks:
; 16 bytes of each row are 32 weights: the lower halves of bytes come first.
; Out v0-v7      Clobbers rcx rdx rsi v10 v11
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
