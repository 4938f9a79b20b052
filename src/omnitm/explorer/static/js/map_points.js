// Draws the points: WebGL, or a plain canvas where that is missing.

const VERTEX = `
attribute vec2 position; attribute vec4 colour; attribute float size;
uniform vec2 scale; uniform vec2 middle; uniform float ratio;
varying vec4 shade; varying float radius;
void main() {
  gl_Position = vec4((position - middle) * scale, 0.0, 1.0);
  gl_PointSize = size * ratio;
  radius = 0.5 * gl_PointSize;
  shade = colour;
}`;
const FRAGMENT = `
precision mediump float;
varying vec4 shade; varying float radius;
void main() {
  float inside = clamp(radius - length(gl_PointCoord - 0.5) * 2.0 * radius, 0.0, 1.0);
  gl_FragColor = vec4(shade.rgb * shade.a, shade.a) * inside;
}`;

export function pointPainter(canvas) {
  const gl = canvas.getContext("webgl", { antialias: false, premultipliedAlpha: true });
  return gl ? new WebGLPoints(gl) : new CanvasPoints(canvas.getContext("2d"));
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
    this.buffers = Object.fromEntries(["position", "colour", "size"].map((name) => [name, gl.createBuffer()]));
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

  set({ positions, colours, sizes }) {
    const { gl } = this;
    if (positions) {
      this.n = positions.length / 2;
      this.attribute("position", positions, 2, gl.FLOAT, false);
    }
    if (colours) this.attribute("colour", colours, 4, gl.UNSIGNED_BYTE, true);
    if (sizes) this.attribute("size", sizes, 1, gl.FLOAT, false);
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

class CanvasPoints {
  constructor(context) {
    this.context = context;
    this.name = "canvas";
  }

  set(values) {
    Object.assign(this, Object.fromEntries(Object.entries(values).filter(([, value]) => value)));
  }

  paint(view) {
    const { context, positions, colours, sizes } = this;
    context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    let last = -1;
    for (let row = 0; row < sizes.length; row += 1) {
      const x = (positions[2 * row] - view.x) * view.pixels + view.width / 2;
      const y = (view.y - positions[2 * row + 1]) * view.pixels + view.height / 2;
      if (x < 0 || y < 0 || x > view.width || y > view.height) continue;
      const [red, green, blue, alpha] = colours.subarray(4 * row, 4 * row + 4);
      const shade = (red << 16) + (green << 8) + blue + alpha * 16777216;
      if (shade !== last) context.fillStyle = `rgb(${red} ${green} ${blue} / ${alpha / 255})`;
      last = shade;
      const size = sizes[row] * view.growth;
      context.fillRect(x - size / 2, y - size / 2, size, size);
    }
  }
}
