#!/bin/sh
# iso.sh - an ISO image of GRUB, mote and a model, for BIOS and UEFI; `make iso` calls it.
# usage: iso.sh ISO MOTE MODEL [OPTION... PROMPT]
set -eu
iso=$1 mote=$2 model=$3
shift 3
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT

line=
for word; do
  line="$line \"$(printf %s "$word" | sed 's/[\\"$]/\\&/g')\""
done
mkdir -p "$files/tree/boot/grub"
cat > "$files/tree/boot/grub/grub.cfg" << END
serial --unit=0 --speed=115200
terminal_input console serial
terminal_output console serial
set timeout=1
menuentry mote {
  multiboot /boot/mote$line
  module /boot/model.gguf model.gguf
}
END
cp -L "$mote" "$files/tree/boot/mote"
copy=$files/tree/boot/model.gguf
ln -L "$model" "$copy" 2> /dev/null || cp "$model" "$copy"
grub-mkrescue -o "$iso" "$files/tree" 2> "$files/log" || { cat "$files/log" >&2; exit 1; }
echo "iso: $iso: $(wc -c < "$iso") bytes"
