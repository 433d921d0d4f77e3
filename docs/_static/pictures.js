// Pictures open in their own size; wide ones scroll on a phone, see site.css.

for (const image of document.querySelectorAll("article img")) {
  if (image.closest("a")) continue;
  const link = document.createElement("a");
  link.className = "picture";
  link.href = image.currentSrc || image.src;
  link.title = "Open in its own size";
  image.replaceWith(link);
  link.append(image);
  const measure = () => {
    link.classList.toggle("wide", image.naturalWidth > 1.2 * image.naturalHeight);
  };
  if (image.complete) measure();
  else image.addEventListener("load", measure);
}
