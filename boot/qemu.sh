#!/bin/sh
# qemu.sh - boots mote under QEMU and gives it a model; `make boot` calls it.
# usage: qemu.sh MOTE MODEL [OPTION... PROMPT]      CORES=n  MEMORY=size  ACCEL=kvm
# The serial line is this terminal; Ctrl-C ends it.  Exits with mote's own status; 3: an exception.
set -eu
mote=$1 model=$2
shift 2
cores=${CORES:-1}
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT

line=  # words become one line, which boot/multiboot-x86_64.asm takes apart
for word; do
  line="$line \"$(printf %s "$word" | sed 's/[\\"]/\\&/g')\""
done

size=$(wc -c < "$model")
case $model in  # -initrd ends at a blank
  *\ *) ln -s "$(realpath "$model")" "$parts/model" && path=$parts/model ;;
  *) path=$(printf %s "$model" | sed 's/,/,,/g') ;;
esac
if [ "$size" -lt 2000000000 ]; then
  echo "boot: $model is a module: QEMU copies it behind mote" >&2
  set -- -m "${MEMORY:-3G}" -initrd "$path"
else
  # QEMU wants whole pages of 4 KiB: what is left of the file becomes a second device.
  whole=$((size / 4096 * 4096)) start=4294967296
  tail -c +$((whole + 1)) "$model" > "$parts/rest"
  printf %4096s | tr ' ' '\0' >> "$parts/rest"
  echo "boot: $model is memory at 4 GiB: nothing is copied" >&2
  set -- -m "${MEMORY:-3G},slots=2,maxmem=512G" \
    -object "memory-backend-file,id=file,mem-path=$path,size=$whole,share=on,readonly=on" \
    -object "memory-backend-file,id=rest,mem-path=$parts/rest,size=4096,share=on,readonly=on" \
    -device "pc-dimm,memdev=file,addr=$start" \
    -device "pc-dimm,memdev=rest,addr=$((start + whole))"
fi

# More emulated cores than real ones would wait for each other: then one thread plays them in turn.
threads=multi
[ "$cores" -lt "$(nproc)" ] || threads=single
status=0
qemu-system-x86_64 -accel "${ACCEL:-tcg,thread=$threads}" -cpu max -smp "$cores" "$@" \
  -kernel "$mote" -append "${line# }" -display none -serial stdio -no-reboot \
  -device isa-debug-exit,iobase=0xf4,iosize=4 2> "$parts/log" || status=$?
cat "$parts/log" >&2
# isa-debug-exit makes 2 n + 1 of n.  An even number is QEMU's own, and so is 1 where QEMU complains.
if [ $((status % 2)) = 0 ] || { [ "$status" = 1 ] && grep -qv warning: "$parts/log"; }; then
  echo "boot: QEMU has ended before mote: $status" >&2
  exit 125
fi
exit $((status / 2))
