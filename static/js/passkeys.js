/* Passkeys: a button with data-passkey asks the browser for one and sends what it says in its form's
   field `credential`. The options come from the page, or from the address in data-options. */

const passkeyButton = (target) => target.closest?.("button[data-passkey]");

async function passkeyOptions(button) {
  if (!button.dataset.options) {
    return JSON.parse(document.getElementById("passkey-options").textContent);
  }
  const answer = await fetch(button.dataset.options, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return answer.json();
}

async function createPasskey({ creation_options: { publicKey } }, form) {
  if (form.elements.passwordless?.checked) {
    Object.assign(publicKey.authenticatorSelection, {
      residentKey: "required", requireResidentKey: true, userVerification: "required",
    });
  }
  return navigator.credentials.create({
    publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey),
  });
}

async function usePasskey({ request_options: { publicKey } }) {
  return navigator.credentials.get({
    publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey),
  });
}

document.addEventListener("click", async (event) => {
  const button = passkeyButton(event.target);
  if (!button) return;
  event.preventDefault();
  const { form } = button;
  const said = form.querySelector("[data-says=passkey]");
  said.textContent = "";
  button.disabled = true;
  try {
    const options = await passkeyOptions(button);
    const act = button.dataset.passkey === "create" ? createPasskey : usePasskey;
    const credential = await act(options, form);
    form.elements.credential.value = JSON.stringify(credential);
    form.submit();
  } catch {
    said.textContent = "No passkey was used. It works with a host name over HTTPS, or on localhost.";
    button.disabled = false;
  }
});
