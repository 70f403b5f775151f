"""roofline.py - a roofline plot as SVG: what was achieved, against what the machine can do.

Used by bench.py.  Williams, Waterman and Patterson, doi 10.1145/1498765.1498785.  From left to
right, how many operations there are to a byte that is read; upwards, operations a second.  Both
axes are logarithmic.
"""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 480, 70, 190, 40, 50
COLOURS = ('#1f6fb4', '#d95f02', '#1b9e77', '#7570b3')
SHAPES = {'decode': '<circle cx="{0:.1f}" cy="{1:.1f}" r="5"',
          'prefill': '<path d="M{0:.1f} {1:.1f}m-5 -5h10v10h-10z"'}


def plot(title, bandwidth, peaks, points):
    """bandwidth: GB/s; peaks: {name: GFLOP/s}; points: [(engine, 'decode' or 'prefill', label,
    operations a byte, GFLOP/s)].  Returns the SVG."""
    xs = [p[3] for p in points] + [max(peaks.values()) / bandwidth, 1]
    ys = [p[4] for p in points] + [*peaks.values(), bandwidth]
    x0, x1 = math.floor(math.log10(min(xs)) - 0.3), math.ceil(math.log10(max(xs)) + 0.3)
    y0, y1 = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)) + 0.1)
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(v):
        return LEFT + across * (math.log10(v) - x0) / (x1 - x0)

    def y(v):
        return TOP + down * (y1 - math.log10(v)) / (y1 - y0)

    svg = []

    def line(xa, ya, xb, yb, style):
        svg.append(f'<line x1="{xa:.1f}" y1="{ya:.1f}" x2="{xb:.1f}" y2="{yb:.1f}" {style}/>')

    def text(xa, ya, s, style=''):
        svg.append(f'<text x="{xa:.1f}" y="{ya:.1f}" {style}>{escape(s)}</text>')

    for e in range(x0, x1 + 1):
        line(x(10 ** e), TOP, x(10 ** e), TOP + down, 'stroke="#ddd"')
        text(x(10 ** e), TOP + down + 18, f'{10 ** e:g}', 'text-anchor="middle"')
    for e in range(y0, y1 + 1):
        line(LEFT, y(10 ** e), LEFT + across, y(10 ** e), 'stroke="#ddd"')
        text(LEFT - 8, y(10 ** e) + 4, f'{10 ** e:g}', 'text-anchor="end"')
    text(LEFT + 8, TOP - 16, title, 'font-weight="bold"')
    text(LEFT + across / 2, HEIGHT - 10, 'operations a byte of weights', 'text-anchor="middle"')
    text(LEFT - 8, TOP - 8, 'GFLOP/s', 'text-anchor="end"')

    roof = 'stroke="#444" stroke-width="1.5"'
    free = TOP                      # where the next label has room
    for name, peak in sorted(peaks.items(), key=lambda p: -p[1]):
        line(x(peak / bandwidth), y(peak), LEFT + across, y(peak), roof)
        free = max(free, y(peak) + 4)
        text(LEFT + across + 6, free, f'{name} {peak:.0f} GFLOP/s')
        free += 14
    low = max(10 ** x0, 10 ** y0 / bandwidth)
    high = max(peaks.values()) / bandwidth
    line(x(low), y(low * bandwidth), x(high), y(high * bandwidth), roof)
    text(x(low) + 8, y(low * bandwidth) - 8, f'read {bandwidth:.1f} GB/s')

    engines = list(dict.fromkeys(p[0] for p in points))
    for engine, kind, label, intensity, speed in points:
        px, py, colour = x(intensity), y(speed), COLOURS[engines.index(engine) % len(COLOURS)]
        svg.append(SHAPES[kind].format(px, py) + f' fill="{colour}"/>')
        text(px + 8, py + 4, label, f'fill="{colour}" font-size="10"')
    for i, engine in enumerate(engines):
        at = HEIGHT - BOTTOM - 16 * (len(engines) - i) - 24
        colour = COLOURS[i % len(COLOURS)]
        text(LEFT + across + 6, at, engine, f'fill="{colour}" font-weight="bold"')
    text(LEFT + across + 6, HEIGHT - BOTTOM - 16, 'circle: decode')
    text(LEFT + across + 6, HEIGHT - BOTTOM, 'square: prefill')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" '
            'fill="white"/>\n' + '\n'.join(svg) + '\n</svg>\n')
