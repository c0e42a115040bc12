//! Token of a page: whoever has it may send commands.

use std::fmt;

use subtle::ConstantTimeEq as _;

use crate::error::Error;

/// Secret text of 32 hexadecimal digits.
pub struct Token(String);

impl Token {
    /// Draws a token that nobody can guess.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn random() -> Result<Self, Error> {
        let mut bytes = [0; 16];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
            .map_err(Error::errno("random bytes"))?;
        Ok(Self(format!("{:032x}", u128::from_ne_bytes(bytes))))
    }

    /// True for the token's own text. The time tells only whether the length is right.
    pub fn matches(&self, text: &str) -> bool {
        self.0.as_bytes().ct_eq(text.as_bytes()).into()
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Hides the secret.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_matches_its_own_text_alone() {
        let [token, other] = [(); 2].map(|()| Token::random().unwrap());
        let text = token.to_string();
        assert!(text.len() == 32 && token.matches(&text) && !other.matches(&text));
        assert!(!token.matches("") && !token.matches(&text[1..]) && !token.matches(&(text.clone() + "0")));
        assert!(!format!("{token:?}").contains(&text));
    }
}
