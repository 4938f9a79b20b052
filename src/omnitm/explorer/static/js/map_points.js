// Draws the points: in one call of WebGL or, where no graphics card draws, pixel by pixel, which is quicker there.

const VERTEX = `
attribute vec2 position; attribute vec4 colour; attribute float size; attribute float shape;
uniform vec2 scale; uniform vec2 middle; uniform float ratio;
varying vec4 shade; varying float radius; varying float kind;
void main() {
  kind = shape;
  gl_Position = vec4((position - middle) * scale, 0.0, 1.0);
  gl_PointSize = size * ratio;
  radius = 0.5 * gl_PointSize;
  shade = colour;
}`;
const FRAGMENT = `
precision mediump float;
varying vec4 shade; varying float radius; varying float kind;
void main() {
  vec2 place = abs(gl_PointCoord - 0.5) * 2.0;
  float away = kind > 1.5 ? (place.x + place.y) : kind > 0.5 ? max(place.x, place.y) * 1.1 : length(place);
  float inside = clamp(radius - away * radius, 0.0, 1.0);
  gl_FragColor = vec4(shade.rgb * shade.a, shade.a) * inside;
}`;

const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;
const [EMPTY, PALE] = [0, 128];
export const SHAPES = ["disc", "square", "diamond"];

// Name what draws WebGL here; nothing if there is no WebGL.
export function renderer() {
  const gl = document.createElement("canvas").getContext("webgl");
  const facts = gl?.getExtension("WEBGL_debug_renderer_info");
  return gl ? String(gl.getParameter(facts ? facts.UNMASKED_RENDERER_WEBGL : gl.RENDERER)) : "";
}

export function pointPainter(canvas, by = renderer()) {
  const gl = by && !SOFTWARE.test(by) ? canvas.getContext("webgl", { antialias: false, premultipliedAlpha: true }) : null;
  return gl ? new WebGLPoints(gl) : new PixelPoints(canvas.getContext("2d", { willReadFrequently: true }));
}

class WebGLPoints {
  constructor(gl) {
    this.gl = gl;
    this.name = "webgl";
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    gl.useProgram(program);
    this.program = program;
    this.place = Object.fromEntries(["scale", "middle", "ratio"].map((name) => [name, gl.getUniformLocation(program, name)]));
    this.buffers = Object.fromEntries(["position", "colour", "size", "shape"].map((name) => [name, gl.createBuffer()]));
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  attribute(name, values, count, type, normalized) {
    const { gl } = this;
    const location = gl.getAttribLocation(this.program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, count, type, normalized, 0, 0);
  }

  set({ positions, colours, sizes, shapes }) {
    const { gl } = this;
    if (positions) {
      this.n = positions.length / 2;
      this.attribute("position", positions, 2, gl.FLOAT, false);
    }
    if (colours) this.attribute("colour", colours, 4, gl.UNSIGNED_BYTE, true);
    if (sizes) this.attribute("size", sizes, 1, gl.FLOAT, false);
    if (shapes) this.attribute("shape", shapes, 1, gl.UNSIGNED_BYTE, false);
  }

  paint(view) {
    const { gl } = this;
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform2f(this.place.scale, (2 * view.pixels) / view.width, (2 * view.pixels) / view.height);
    gl.uniform2f(this.place.middle, view.x, view.y);
    gl.uniform1f(this.place.ratio, view.ratio * view.growth);
    gl.drawArrays(gl.POINTS, 0, this.n);
  }
}

class PixelPoints {
  constructor(context) {
    this.context = context;
    this.name = "pixels";
    this.stamps = new Map();
  }

  set({ positions, colours, sizes, shapes }) {
    if (positions) this.positions = positions;
    if (colours) this.colours = new Uint32Array(colours.buffer);
    if (sizes) this.sizes = sizes;
    if (shapes) this.shapes = shapes;
  }

  paint(view) {
    const { context } = this;
    const { width, height } = context.canvas;
    if (this.image?.width !== width || this.image.height !== height) {
      this.image = context.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.pixels.fill(EMPTY);
    const [scale, growth] = [view.pixels * view.ratio, view.ratio * view.growth];
    for (const isPale of [true, false]) this.paintRows(isPale, { view, width, height, scale, growth });
    context.putImageData(this.image, 0, 0);
  }

  // Pale points come first, so that they hide no other.
  paintRows(isPale, { view, width, height, scale, growth }) {
    const { positions, colours, sizes, shapes } = this;
    for (let row = 0; row < sizes.length; row += 1) {
      if (colours[row] >>> 24 < PALE !== isPale) continue;
      const x = Math.round((positions[2 * row] - view.x) * scale + width / 2);
      const y = Math.round((view.y - positions[2 * row + 1]) * scale + height / 2);
      const size = Math.min(Math.max(Math.round(sizes[row] * growth), 2), 60);
      if (x > size && y > size && x < width - size && y < height - size) this.stamp(y * width + x, this.stampOf(size, shapes[row], width), colours[row]);
    }
  }

  // Whole pixels cover what is below them; those at the edge, half covered, only show where nothing is.
  stamp(place, { whole, edge }, colour) {
    const { pixels } = this;
    for (let k = 0; k < whole.length; k += 1) pixels[place + whole[k]] = colour;
    const pale = ((colour & 0xffffff) | (((colour >>> 25) << 24))) >>> 0;
    for (let k = 0; k < edge.length; k += 1) if (pixels[place + edge[k]] === EMPTY) pixels[place + edge[k]] = pale;
  }

  stampOf(size, shape, width) {
    const key = (shape * 64 + size) * 65536 + width;
    if (!this.stamps.has(key)) {
      const [whole, edge, radius] = [[], [], size / 2];
      const half = Math.ceil(radius);
      for (let y = -half; y <= half; y += 1) {
        for (let x = -half; x <= half; x += 1) {
          const inside = radius - distance(shape, x, y);
          if (inside >= 0.5) whole.push(y * width + x);
          else if (inside > 0) edge.push(y * width + x);
        }
      }
      this.stamps.set(key, { whole, edge });
    }
    return this.stamps.get(key);
  }
}

function distance(shape, x, y) {
  if (SHAPES[shape] === "square") return Math.max(Math.abs(x), Math.abs(y)) * 1.1;
  return SHAPES[shape] === "diamond" ? (Math.abs(x) + Math.abs(y)) * 0.8 : Math.hypot(x, y);
}
