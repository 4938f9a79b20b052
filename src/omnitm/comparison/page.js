document.querySelector("input").addEventListener("input", event => {
  const wanted = event.target.value.trim().toLowerCase();
  for (const entry of document.querySelectorAll("details.word"))
    entry.hidden = !entry.dataset.words.includes(wanted);
});
