// Time the frames of the map that is open: arguments are seconds and whether it moves.
const [seconds, moves, done] = arguments;
const until = (true_) => new Promise((resolve) => {
  const look = () => (true_() ? resolve() : setTimeout(look, 100));
  look();
});
(async () => {
  await until(() => document.querySelector(".map-stage")?.stage?.frames > 0);
  await new Promise((resolve) => { setTimeout(resolve, 500); });
  const { stage } = document.querySelector(".map-stage");
  const intervals = [];
  const own = [];
  const begin = performance.now();
  let last = begin;
  const paint = stage.paint.bind(stage);
  stage.paint = () => {
    const start = performance.now();
    paint();
    own.push(performance.now() - start);
  };
  const frame = (now) => { // when the frame began, not when its callback got its turn
    intervals.push(now - last);
    last = now;
    const time = (performance.now() - begin) / 1000;
    if (moves) {
      stage.camera.zoom = 1 + 6 * (1 - Math.cos(1.5 * time));
      stage.camera.x = Math.sin(time) / 3;
      stage.camera.y = Math.cos(time) / 3;
      stage.move(0, 0);
    }
    if (time < seconds) requestAnimationFrame(frame);
    else {
      stage.paint = paint;
      done({ intervals: intervals.slice(2), own, points: stage.data.n, painter: stage.painter.name });
    }
  };
  requestAnimationFrame(frame);
})();
