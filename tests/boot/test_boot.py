"""test_boot.py - the same file on bare metal, under QEMU and GRUB: the same text as on Linux.

Everything is emulated (TCG), so that it runs anywhere: with several cores in turns, by one thread,
for emulated cores that wait for each other are slow where real ones are fewer.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests/e2e'))
os.environ.setdefault('MOTE', os.path.join(ROOT, 'build/x86_64/mote'))  # QEMU knows no AVX-512
from common import DEMO, MOTE, PROMPT, Test, add_tests, run  # noqa: E402

QEMU = 'qemu-system-x86_64'
PORTABLE = os.path.join(ROOT, 'build/portable/mote')
OVMF = '/usr/share/ovmf/OVMF.fd'
EXIT = ('-device', 'isa-debug-exit,iobase=0xf4,iosize=4')
GREEDY = '-q -T 0 -n 6 "%s"' % PROMPT
BUDGET = 1120   # bytes of boot/: 1096, and what alignment makes of them
EXCEPTION = 3   # the status that boot/ gives


def need(*tools):
    missing = [t for t in tools if not shutil.which(t)]
    return unittest.skipIf(missing, ', '.join(missing) + ': not installed')


def qemu(*options, stdin=b'', cpu='max', machine='pc', cores=1, threads='single', memory='128M',
         extra=EXIT, timeout=60):
    """Boots, types stdin.  Returns mote's status (QEMU's own, negative) and what it has written."""
    command = [QEMU, '-accel', 'tcg,thread=' + threads, '-machine', machine, '-cpu', cpu, '-smp',
               str(cores), '-m', memory, '-display', 'none', '-serial', 'stdio', '-no-reboot',
               *extra, *options]
    done = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=timeout)
    code = done.returncode
    return (code >> 1 if code % 2 and not done.stderr else -code, done.stdout)


def boot(line=GREEDY, model=DEMO, kernel=MOTE, **how):
    module = ('-initrd', model) if model else ()
    return qemu('-kernel', kernel, *module, '-append', line, **how)


class Files(Test):
    """Has a folder for the files of its tests."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name

    def file(self, name, *parts):
        path = os.path.join(self.folder, name)
        with open(path, 'wb') as f:
            for part in parts:
                f.write(part)
        return path


def content(path):
    with open(path, 'rb') as f:
        return f.read()


@need(QEMU)
class Text(Test):
    def check(self, line, args, how):
        self.assertEqual(boot('-q -T 0 -n 6 ' + line, **how), (0, self.greedy(*args, n=6)))

    def test_twenty_boots_in_a_row(self):
        want = self.greedy(PROMPT, n=2)
        for i in range(20):
            self.assertEqual(boot('-q -T 0 -n 2 "%s"' % PROMPT, cores=1 + i % 3), (0, want), i)

    def test_statistics_and_the_clock(self):
        """Of three runs, for a busy host may take the CPU away while the clock is set."""
        for machine in ('pc', 'microvm'):
            shares = []
            for _ in range(3):
                start = time.time()
                code, out = boot('-T 0 -n 30 "%s"' % PROMPT, machine=machine)
                seconds = time.time() - start
                text, _, err = out.rpartition(b'\nseed')
                self.assertEqual((code, text), (0, self.greedy(PROMPT, n=30)))
                prompt, prompt_speed, answer, speed = self.statistics(b'seed' + err)[:4]
                shares.append((prompt / prompt_speed + answer / speed) / seconds)
                if 0.3 < shares[-1] < 1:
                    break
            else:
                self.fail(shares)

    def test_help(self):
        code, out = boot('-h')
        self.assertEqual((code, out), (0, run('-h').out))

    @unittest.skipUnless(os.path.exists(PORTABLE), 'build/portable/mote is not built')
    def test_portable_build_on_a_cpu_without_xsave(self):
        self.assertEqual(boot(kernel=PORTABLE, cpu='qemu64', cores=2),
                         (0, self.greedy(PROMPT, n=6, program=PORTABLE)))


add_tests(Text, [
    *(('%s_%d' % (machine, cores), '"%s"' % PROMPT, [PROMPT], dict(machine=machine, cores=cores))
      for machine in ('pc', 'q35') for cores in (1, 2, 4)),
    ('microvm', '"%s"' % PROMPT, [PROMPT], dict(machine='microvm', cores=2)),
    ('fewer_threads_than_cores', '-t 2 ' + PROMPT, [PROMPT], dict(cores=4)),
    ('more_threads_than_cores', '-t 9 ' + PROMPT, [PROMPT], dict(cores=2)),
    ('quotes', r'"A \"quoted\"  word" and \\ "it\'s"', ['A "quoted"  word and \\ it\'s'], {}),
    ('spaces', '  Once   upon a time  ', [PROMPT], {}),
    ('an_open_quote', '"Once upon a time', [PROMPT], {}),
    ('two_bytes', 'caf\u00e9', ['caf\u00e9'], {}),
    ('no_prompt', '""', [''], {}),
    ('words', ' '.join('a' * 30), [' '.join('a' * 30)], {}),
])


@need(QEMU)
class Cores(Files):
    def cores_at_work(self, line, cores):
        """Those that execute the engine, while it waits for what one may type."""
        log = self.file('log')
        command = [QEMU, '-accel', 'tcg,thread=single', '-cpu', 'max', '-smp', str(cores), '-m',
                   '128M', '-display', 'none', '-serial', 'file:' + log, '-monitor', 'stdio',
                   '-kernel', MOTE, '-initrd', DEMO, '-append', '-i -q ' + line]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
            deadline = time.time() + 30
            while content(log) != b'> ' and time.time() < deadline:
                time.sleep(0.02)
            out = p.communicate(b'info registers -a\nquit\n')[0].decode()
        state = re.findall(r'[RE]IP=(\w+) .* HLT=(\d)', out)
        self.assertEqual(len(state), cores, out)
        return sum(0x100000 <= int(rip, 16) < 0x110000 and halted == '0' for rip, halted in state)

    def test_as_many_as_there_are(self):
        for cores in (1, 3):
            self.assertEqual(self.cores_at_work('', cores), cores)

    def test_as_many_as_wanted(self):
        self.assertEqual(self.cores_at_work('-t 1', 3), 1)

    def test_all_at_once(self):
        """Threads of the host, in parallel."""
        self.assertEqual(boot('-q -T 0 -n 2 "%s"' % PROMPT, cores=2, threads='multi'),
                         (0, self.greedy(PROMPT, n=2)))


@need(QEMU)
class Typed(Test):
    def typed(self, keys, echo, prompt=PROMPT):
        code, out = boot('-q -T 0 -n 6', stdin=keys)
        asked, _, out = out.partition(b'\n')
        self.assertIn(b'Ctrl-D', asked)
        self.assertEqual((code, out), (0, echo + self.greedy(prompt, n=6)))

    def test_prompt(self):
        self.typed(b'Once upon a time\x04\x04', b'Once upon a time')

    def test_backspace(self):
        self.typed(b'\x7f\x08Onx\x7fce upon a tinn\x08\x7fme\x04\x04',
                   b'Onx\b \bce upon a tinn\b \b\b \bme')

    def test_backspace_takes_a_whole_character(self):
        self.typed('Once upon a time\u00e9\u20ac\x7f\x7f\x04\x04'.encode(),
                   'Once upon a time\u00e9\u20ac\b \b\b \b'.encode())

    def test_two_lines(self):
        self.typed(b'Once\rupon\x04\x04', b'Once\nupon', 'Once\nupon')

    def test_chat(self):
        turns = b'Hello!\nWho are you?\n'
        want = self.text('-i', '-T', '0', DEMO, stdin=turns).splitlines()
        self.assertEqual(len(want), 2)
        self.assertEqual(boot('-q -i -T 0', stdin=turns.replace(b'\n', b'\r') + b'\x04'),
                         (0, b'> Hello!\n%s\n> Who are you?\n%s\n> ' % tuple(want)))


@need(QEMU)
class Model(Files):
    def told(self, line=GREEDY, want=None, **how):
        self.assertEqual(boot(line, **how), (0, want or self.greedy(PROMPT, n=6)))

    def device(self, path, memory='128M', **how):
        """boot/qemu.sh does the same."""
        size = os.path.getsize(path)
        whole = size & ~4095
        rest = self.file('rest', content(path)[whole:].ljust(4096, b'\0'))
        parts = []
        for name, path, n, start in (('a', path, whole, 0), ('b', rest, 4096, whole)):
            parts += ['-object', 'memory-backend-file,id=%s,mem-path=%s,size=%d,share=on,readonly=on'
                      % (name, path, n), '-device', 'pc-dimm,memdev=%s,addr=%d' %
                      (name, (4 << 30) + start)]
        return boot(model=None, extra=(*EXIT, *parts), memory=memory + ',slots=2,maxmem=64G', **how)

    def test_module(self):
        self.told()

    def test_appended(self):
        self.told(model=None, kernel=self.file('story', content(MOTE), content(DEMO)))

    def test_module_before_appended(self):
        story = self.file('story', content(MOTE), b'GGUF')
        self.told(kernel=story)

    def test_device(self):
        for machine, memory in (('pc', '128M'), ('q35', '128M'), ('pc', '3G')):
            self.assertEqual(self.device(DEMO, machine=machine, memory=memory),
                             (0, self.greedy(PROMPT, n=6)))

    def test_none(self):
        self.assertEqual(boot('-T 0', model=None), (2, run('-T', '0').err))
        code, out = boot('Once', model=None)
        self.assertEqual((code, out), (1, b'mote: Once: cannot read\n'))

    def test_truncated(self):
        whole = content(DEMO)
        part = self.file('part.gguf', whole[:len(whole) - 5000])
        want = run(part)
        self.assertEqual(want.code, 1)
        self.assertEqual(boot(model=part), (1, want.err))
        story = self.file('story', content(MOTE), whole[:len(whole) - 5000])
        self.assertEqual(boot(model=None, kernel=story), (1, want.err.replace(
            part.encode(), story.encode())))
        self.assertEqual(self.device(part), (1, want.err.replace(part.encode(), MOTE.encode())))

    def test_not_a_model(self):
        text = self.file('text', b'Once upon a time' * 1000)
        self.assertEqual(boot(model=text), (1, run(text).err))

    def test_too_little_memory(self):
        self.assertEqual(boot(memory='8M'), (1, b'mote: out of memory\n'))
        code, out = boot('-c 500000 Once')
        self.assertEqual((code, out.splitlines()[-1]), (1, b'mote: out of memory'))

    def test_script(self):
        """boot/qemu.sh, which `make boot` calls."""
        script = os.path.join(ROOT, 'boot/qemu.sh')
        big = self.file('big.gguf', content(DEMO))
        os.truncate(big, (5 << 30) + 123)  # with a hole
        for model, what in ((DEMO, b'module'), (big, b'memory at 4 GiB')):
            r = run(MOTE, model, '-q', '-T', '0', '-n', '6', PROMPT, program=script)
            self.assertEqual((r.code, r.out), (0, self.greedy(PROMPT, n=6)))
            self.assertIn(what, r.err)
        self.assertEqual(run(MOTE, DEMO, '-?', program=script).code, 2)


@need(QEMU)
class Failures(Files):
    def test_a_cpu_that_lacks_avx2(self):
        for cpu in ('qemu64', 'max,avx2=off', 'max,xsave=off', 'Nehalem'):
            code, out = boot(cpu=cpu, cores=2)
            self.assertEqual(code, 1, cpu)
            self.assertRegex(out, rb'\Amote: [ -~]*AVX2[ -~]*\n\Z')

    @need('nm')
    def test_exceptions(self):
        symbols = subprocess.run(['nm', MOTE + '.elf'], capture_output=True, text=True).stdout
        main = int(re.search(r'^(\w+) T main$', symbols, re.M)[1], 16)
        load = b'\xa0'  # mov al, [...]
        for vector, code, address in (
                (0x06, b'\x0f\x0b', 0),                                      # ud2
                (0x00, b'\x31\xc0\xf7\xf0', 0),                              # div eax, by 0
                (0x0d, load + (0xf234567890 << 24).to_bytes(8, 'little'), 0),
                (0x0e, load + (0x123456789abc).to_bytes(8, 'little'), 0x123456789abc)):
            image = bytearray(content(MOTE))
            at = main - 0x100000
            image[at:at + len(code)] = code
            rip = main + (2 if vector == 0 else 0)
            self.assertEqual(boot(kernel=self.file('bad', image)), (
                EXCEPTION, b'mote: exception %02x at %016x, address %016x\n' %
                (vector, rip, address)))

    def test_without_the_exit_device(self):
        for machine in ('pc', 'q35'):
            code, out = boot(extra=(), machine=machine)  # off
            self.assertEqual((code, out), (0, self.greedy(PROMPT, n=6)))
        with self.assertRaises(subprocess.TimeoutExpired) as stands:
            boot('Once', model=None, extra=(), timeout=2)
        self.assertEqual(stands.exception.stdout, b'mote: Once: cannot read\n')


class Size(Files):
    """What `make BOOT=0` leaves out, and that it does."""

    @need('make', 'g++', 'nasm', 'ld.lld')
    def test_budget(self):
        make = subprocess.run(['make', '-C', ROOT, '-s', 'BUILD=' + self.folder, 'BOOT=0',
                               'ISA=x86_64', self.folder + '/mote'], capture_output=True)
        self.assertEqual(make.returncode, 0, make.stderr)
        small = self.folder + '/mote'
        self.assertLessEqual(os.path.getsize(MOTE) - os.path.getsize(small), BUDGET)
        self.assertEqual(self.greedy(PROMPT, program=small), self.greedy(PROMPT))
        if shutil.which(QEMU):
            self.assertNotIn(boot(kernel=small)[0], (0, 1))


@need(QEMU, 'grub-mkrescue', 'xorriso', 'mformat')
class Grub(Files):
    """boot/iso.sh, which `make iso` calls."""

    prompt = 'It\'s "a" $mall \\ world'

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.iso = os.path.join(cls.folder, 'mote.iso')
        r = run(cls.iso, MOTE, DEMO, '-q', '-T', '0', '-n', '6', cls.prompt,
                program=os.path.join(ROOT, 'boot/iso.sh'))
        assert (r.code, r.err) == (0, b''), r

    def check_text(self, *options, **how):
        code, out = qemu('-cdrom', self.iso, *options, memory='256M', **how)
        self.assertEqual(code, 0, out)
        self.assertTrue(out.endswith(self.greedy(self.prompt, n=6)), out)

    @unittest.skipUnless(os.path.isdir('/usr/lib/grub/i386-pc'), 'grub-pc-bin: not installed')
    def test_bios(self):
        self.check_text(cores=2)

    @unittest.skipUnless(os.path.exists(OVMF), 'ovmf: not installed')
    @unittest.skipUnless(os.path.isdir('/usr/lib/grub/x86_64-efi'),
                         'grub-efi-amd64-bin: not installed')
    def test_uefi(self):
        self.check_text('-bios', OVMF, machine='q35', cores=2)


if __name__ == '__main__':
    unittest.main()
