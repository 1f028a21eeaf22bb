"use strict";
(() => {
  // Without this script every section is shown, one below the other.
  document.documentElement.classList.add("js");
  const sections = [...document.querySelectorAll("main > section")];
  const list = document.querySelector(".tabs");
  list.hidden = false;
  const tabs = sections.map((section, i) => {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = "tab-" + section.id;
    tab.textContent = section.dataset.title;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", section.id);
    section.setAttribute("role", "tabpanel");
    section.setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", () => show(i, true));
    list.append(tab);
    return tab;
  });
  function show(chosen, remember) {
    sections.forEach((section, i) => {
      section.hidden = i !== chosen;
      tabs[i].setAttribute("aria-selected", String(i === chosen));
      tabs[i].tabIndex = i === chosen ? 0 : -1;
    });
    if (remember) history.replaceState(null, "", "#" + sections[chosen].id);
  }
  list.addEventListener("keydown", (event) => {
    const now = tabs.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const to = event.key === "Home" ? 0 : event.key === "End" ? tabs.length - 1 : step && now + step;
    if (now < 0 || to === undefined) return;
    event.preventDefault();
    const next = (to + tabs.length) % tabs.length;
    show(next, true);
    tabs[next].focus();
  });
  const fromAddress = () => Math.max(0, sections.findIndex((section) => "#" + section.id === location.hash));
  window.addEventListener("hashchange", () => show(fromAddress(), false));
  show(fromAddress(), false);

  const tip = document.getElementById("tip");
  const marks = "[data-tip]";
  function point(target) {
    const box = target.getBoundingClientRect();
    tip.textContent = target.dataset.tip;
    tip.hidden = false;
    const left = Math.min(Math.max(6, box.x + box.width / 2 - tip.offsetWidth / 2), innerWidth - tip.offsetWidth - 6);
    const above = box.y - tip.offsetHeight - 8;
    tip.style.left = left + "px";
    tip.style.top = (above > 4 ? above : box.y + box.height + 8) + "px";
  }
  for (const name of ["mouseover", "focusin"])
    document.addEventListener(name, (event) => {
      const target = event.target.closest && event.target.closest(marks);
      if (target) point(target);
    });
  for (const name of ["mouseout", "focusout"]) document.addEventListener(name, () => { tip.hidden = true; });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });
})();
